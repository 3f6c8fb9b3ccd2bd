/*
 * fuzz_label.c
 *	  Parses any text as a label: a user may have set it with another release.
 *
 * Links: toaster/label base/settings
 */
#include "postgres.h"

#include "base/codec_ids.h"
#include "server.h"
#include "toaster/label.h"

int			LLVMFuzzerTestOneInput(const uint8 *data, size_t size);

static void
try_label(void *arg)
{
	SlicedLabel label;

	sliced_label_read(arg, &label);
	if (label.codec < -1 || label.codec >= SLICED_N_CODECS || label.level < 0 ||
		strnlen(label.toaster, NAMEDATALEN) == NAMEDATALEN)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8 *data, size_t size)
{
	char	   *text = malloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	server_run(try_label, text);
	free(text);
	return 0;
}
