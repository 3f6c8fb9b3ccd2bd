# pg_sliced: see README.md; ./dev wraps this for a private, throw-away server.

MODULE_big = pg_sliced
EXTENSION = pg_sliced
DATA = $(sort $(wildcard sql/pg_sliced--*.sql))
# for others' toasters: #include "extension/pg_sliced/toaster.h"
HEADERS_pg_sliced = src/base/toaster.h
OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c src/*/*.c src/*/*/*.c)))
RELEASE = $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" pg_sliced.control)
PG_CPPFLAGS = -Isrc -DSLICED_VERSION='"$(RELEASE)"'
SHLIB_LINK = -llz4 -lzstd

REGRESS = $(patsubst test/sql/%.sql,%,$(sort $(wildcard test/sql/*.sql)))
REGRESS_OPTS = --inputdir=test --outputdir=test/output
ISOLATION = $(patsubst test/specs/%.spec,%,$(sort $(wildcard test/specs/*.spec)))
ISOLATION_OPTS = --inputdir=test --outputdir=test/output_iso
EXTRA_CLEAN = test/output test/output_iso

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# Headers are few and every file is small: rebuild all when one changes.
$(OBJS): $(wildcard src/*/*.h src/*/*/*.h)
