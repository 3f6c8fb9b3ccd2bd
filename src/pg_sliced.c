/*
 * pg_sliced.c
 *	  Sets up everything when the library is loaded.
 */
#include "postgres.h"

#include "am/heap_bridge.h"
#include "base/counters.h"
#include "base/settings.h"
#include "decode/decoder.h"
#include "decode/kept_files.h"
#include "decode/late.h"
#include "decode/retention.h"
#include "fmgr.h"
#include "plan/plan.h"
#include "store/dictionary.h"
#include "toaster/api.h"
#include "toaster/column.h"
#include "toaster/label.h"
#include "toaster/registry.h"
#include "value/document.h"
#include "value/promise.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	sliced_settings_define();
	sliced_bridge_init();
	sliced_decoder_init();
	sliced_late_init();
	sliced_retention_init();
	sliced_kept_files_init();
	sliced_dictionary_init();
	sliced_promises_init();
	sliced_documents_init();
	sliced_registry_init();
	sliced_column_init();
	sliced_label_init();
	sliced_api_init();
	sliced_counters_init();
	sliced_hooks_init();
}
