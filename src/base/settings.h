/*
 * settings.h
 *	  Everything a user can set.  No setting changes how stored bytes are read.
 */
#ifndef SLICED_BASE_SETTINGS_H
#define SLICED_BASE_SETTINGS_H

/*
 * How values of logically logged tables are written: see decode/decoding.c.
 */
typedef enum SlicedDecoding
{
	SLICED_DECODING_AUTO,		/* SLICES if the server preloads the library, otherwise slices
								 * unless a logical slot exists */
	SLICED_DECODING_ON,			/* never slices: a standby decodes, for example */
	SLICED_DECODING_OFF,		/* always slices: these tables are not decoded */
	SLICED_DECODING_SLICES		/* always slices, announced to decoders */
} SlicedDecoding;

extern PGDLLEXPORT int sliced_compression;	/* a codec id, for columns that name none */
extern PGDLLEXPORT int sliced_zstd_level;
extern PGDLLEXPORT int sliced_logical_decoding; /* SlicedDecoding */

/*
 * Which dictionaries columns use.
 */
typedef enum SlicedDictionaryUse
{
	SLICED_DICTIONARY_OFF,		/* new values look back at none */
	SLICED_DICTIONARY_ON,		/* they do if there is one */
	SLICED_DICTIONARY_AUTO		/* the same; ANALYZE makes one once there are
								 * enough values */
} SlicedDictionaryUse;

extern PGDLLEXPORT int sliced_dictionary;	/* SlicedDictionaryUse, for columns that say nothing */
extern const char *sliced_dictionary_use_name(SlicedDictionaryUse use);

/* The use with this name, or -1. */
extern int	sliced_dictionary_use_named(const char *name);

/* Compare results of toasters' functions with those of core's: plan/check.c. */
extern PGDLLEXPORT bool sliced_check_toasters;

/* The setting, with what "auto" means on this server. */
extern SlicedDecoding sliced_decoding(void);

/*
 * True if rows and files stay that decoders may have to read.  With "auto" they stay
 * even while the server does not preload the library: slots may be behind, and wait
 * for a server that does.
 */
extern bool sliced_keeps_for_decoders(void);

/*
 * Define the settings; called once, when the library is loaded.  It may fail, so
 * nothing is done before it.
 */
extern void sliced_settings_define(void);

#endif
