/*
 * codec_ids.h
 *	  The numbers by which codecs are known on disk and in settings.
 */
#ifndef SLICED_BASE_CODEC_IDS_H
#define SLICED_BASE_CODEC_IDS_H

#define SLICED_CODEC_NONE	0
#define SLICED_CODEC_PGLZ	1
#define SLICED_CODEC_LZ4	2
#define SLICED_CODEC_ZSTD	3
#define SLICED_N_CODECS		4

#define SLICED_ZSTD_LEVELS	22

#endif
