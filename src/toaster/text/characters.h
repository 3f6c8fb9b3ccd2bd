/*
 * characters.h
 *	  Finds characters in a text of ours, without reading all of it.
 */
#ifndef SLICED_TEXT_CHARACTERS_H
#define SLICED_TEXT_CHARACTERS_H

#include "postgres.h"

/*
 * Set '*offset' to where character number 'nchar' begins, counted from 0; to the end
 * if the text is shorter.  Returns false if that takes reading everything: the value
 * is not ours, or a promise, or in an encoding other than UTF-8 in which characters
 * have several bytes.
 */
extern bool sliced_char_offset(const struct varlena *text, uint32 nchar, uint32 *offset);

/* The same for the last 'nchars' characters. */
extern bool sliced_last_chars_offset(struct varlena *text, uint32 nchars, uint32 *offset);

/* Count the characters of the text. */
extern bool sliced_char_count(const struct varlena *text, uint32 *nchars);

#endif
