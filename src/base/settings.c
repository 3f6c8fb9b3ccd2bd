/*
 * settings.c
 *	  The settings, all with the prefix "sliced.".
 */
#include "postgres.h"

#include <unistd.h>

#include "base/codec_ids.h"
#include "base/settings.h"
#include "base/stop.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/guc.h"

int			sliced_compression = SLICED_CODEC_LZ4;
int			sliced_zstd_level = 3;
int			sliced_logical_decoding = SLICED_DECODING_AUTO;
int			sliced_dictionary = SLICED_DICTIONARY_ON;
bool		sliced_check_toasters = false;

static const struct config_enum_entry compression_options[] = {
	{"none", SLICED_CODEC_NONE, false},
	{"pglz", SLICED_CODEC_PGLZ, false},
	{"lz4", SLICED_CODEC_LZ4, false},
	{"zstd", SLICED_CODEC_ZSTD, false},
	{NULL, 0, false}
};

static const struct config_enum_entry dictionary_options[] = {
	{"off", SLICED_DICTIONARY_OFF, false},
	{"on", SLICED_DICTIONARY_ON, false},
	{"auto", SLICED_DICTIONARY_AUTO, false},
	{NULL, 0, false}
};

static const struct config_enum_entry decoding_options[] = {
	{"auto", SLICED_DECODING_AUTO, false},
	{"on", SLICED_DECODING_ON, false},
	{"off", SLICED_DECODING_OFF, false},
	{"slices", SLICED_DECODING_SLICES, false},
	{"true", SLICED_DECODING_ON, true},
	{"false", SLICED_DECODING_OFF, true},
	{"yes", SLICED_DECODING_ON, true},
	{"no", SLICED_DECODING_OFF, true},
	{"1", SLICED_DECODING_ON, true},
	{"0", SLICED_DECODING_OFF, true},
	{NULL, 0, false}
};

/* True if the postmaster loaded the library, so that every process has it. */
static bool is_preloaded = false;

SlicedDecoding
sliced_decoding(void)
{
	if (sliced_logical_decoding == SLICED_DECODING_AUTO && is_preloaded)
		return SLICED_DECODING_SLICES;
	return sliced_logical_decoding;
}

bool
sliced_keeps_for_decoders(void)
{
	return sliced_logical_decoding == SLICED_DECODING_AUTO ||
		sliced_logical_decoding == SLICED_DECODING_SLICES;
}

/*
 * Once the prefix is ours, core refuses other settings that have it, and forgets those
 * that configuration files, databases and roles have given a value.  The one of
 * sliced_spill is good wherever that is installed, so we load it first: it may be set
 * later, by users who may not load libraries.
 */
static void
load_neighbour(void)
{
	char		path[MAXPGPATH];

	snprintf(path, sizeof(path), "%s/sliced_spill" DLSUFFIX, pkglib_path);
	if (access(path, R_OK) == 0)
		load_file(path, false);
}

void
sliced_settings_define(void)
{
	load_neighbour();
	is_preloaded = process_shared_preload_libraries_in_progress;

	DefineCustomEnumVariable("sliced.compression",
							 "Compresses new values of columns that have no COMPRESSION option of their own.",
							 "Values that are stored already stay as they are.",
							 &sliced_compression,
							 SLICED_CODEC_LZ4,
							 compression_options,
							 PGC_USERSET, 0,
							 NULL, NULL, NULL);

	DefineCustomIntVariable("sliced.zstd_level",
							"Compression level for sliced.compression = zstd.",
							NULL,
							&sliced_zstd_level,
							3, 1, SLICED_ZSTD_LEVELS,
							PGC_USERSET, 0,
							NULL, NULL, NULL);

	DefineCustomEnumVariable("sliced.logical_decoding",
							 "Says whether changes of sliced tables are decoded logically.",
							 "\"auto\" looks for logical replication slots on this server; set \"on\" if "
							 "a standby decodes, \"off\" to write slices even if slots exist.",
							 &sliced_logical_decoding,
							 SLICED_DECODING_AUTO,
							 decoding_options,
							 PGC_SUSET, 0,
							 NULL, NULL, NULL);

	DefineCustomEnumVariable("sliced.dictionary",
							 "Says whether new values use a dictionary of their column.",
							 "\"on\" uses dictionaries that sliced.train() makes; with \"auto\" ANALYZE "
							 "and VACUUM FULL make them as well.",
							 &sliced_dictionary,
							 SLICED_DICTIONARY_ON,
							 dictionary_options,
							 PGC_USERSET, 0,
							 NULL, NULL, NULL);

	DefineCustomBoolVariable("sliced.check_toasters",
							 "Compares results of toasters' functions with those of core's.",
							 "Core's function is called as well, with whole values. It is an error if "
							 "the bytes of the results differ.",
							 &sliced_check_toasters,
							 false,
							 PGC_USERSET, 0,
							 NULL, NULL, NULL);

	sliced_stop_init();
	MarkGUCPrefixReserved("sliced");
}

const char *
sliced_dictionary_use_name(SlicedDictionaryUse use)
{
	return dictionary_options[use].name;
}

int
sliced_dictionary_use_named(const char *name)
{
	for (const struct config_enum_entry *option = dictionary_options; option->name != NULL; option++)
		if (strcmp(option->name, name) == 0)
			return option->val;
	return -1;
}
