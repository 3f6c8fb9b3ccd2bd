# The official image of PostgreSQL with pg_sliced, sliced_hstore and sliced_spill:
#
#   docker build --build-arg PG_MAJOR=17 -t postgres-sliced:17 .
#
# An image of the extensions alone, as CloudNativePG mounts it beside PostgreSQL 18 or later:
#
#   docker build --build-arg PG_MAJOR=18 --target extension -t sliced-extension:18 .
#
# BASE is the image of PostgreSQL, of the same distribution as where the extensions will be used.

ARG PG_MAJOR=17
ARG BASE=postgres:${PG_MAJOR}

FROM ${BASE} AS build
ARG PG_MAJOR
USER root
RUN apt-get update && apt-get install -y --no-install-recommends \
    gcc libc6-dev make liblz4-dev libzstd-dev postgresql-server-dev-${PG_MAJOR}
COPY . /source
# sliced_hstore needs the header that pg_sliced installs
RUN config=/usr/lib/postgresql/${PG_MAJOR}/bin/pg_config && cd /source && \
    make -j"$(nproc)" PG_CONFIG=$config with_llvm=no && \
    make PG_CONFIG=$config with_llvm=no install DESTDIR=/installed && \
    make -C contrib/sliced_hstore PG_CONFIG=$config with_llvm=no \
        PG_CPPFLAGS="-I/installed$($config --includedir-server)" install DESTDIR=/installed && \
    make -C contrib/sliced_spill PG_CONFIG=$config with_llvm=no install DESTDIR=/installed && \
    packaging/extension_files /installed $config /extension

FROM scratch AS extension
COPY --from=build /extension /

FROM ${BASE}
COPY --from=build /installed /
