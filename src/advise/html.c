/*
 * html.c
 *	  Pieces of an HTML page.
 */
#include "postgres.h"

#include "advise/html.h"
#include "catalog/namespace.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

/* In place of what no page may have, or what has no meaning. */
#define REPLACEMENT	0xFFFD

static void
put_character(StringInfo page, pg_wchar c)
{
	if ((c < ' ' && c != '\n' && c != '\t') || c == 0xFFFE || c == 0xFFFF)
		c = REPLACEMENT;
	if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'' || c >= 0x7F)
		appendStringInfo(page, "&#%u;", (unsigned int) c);
	else
		appendStringInfoChar(page, (char) c);
}

/*
 * Names may have bytes that are no character in UTF-8: those beyond ASCII in SQL_ASCII,
 * and a few of other encodings, some without any conversion.
 */
void
sliced_html_text(StringInfo page, const char *text)
{
	int			encoding = GetDatabaseEncoding();
	Oid			conversion = encoding == PG_UTF8 || encoding == PG_SQL_ASCII ? InvalidOid :
		FindDefaultConversionProc(encoding, PG_UTF8);

	for (int len; *text != '\0'; text += len)
	{
		unsigned char *from = (unsigned char *) text;
		unsigned char utf8[MAX_CONVERSION_GROWTH * MAX_MULTIBYTE_CHAR_LEN + 1];

		len = strnlen(text, pg_encoding_mblen(encoding, text));
		if (!IS_HIGHBIT_SET(*text))
			put_character(page, *from);
		else if (encoding == PG_UTF8)
			put_character(page, utf8_to_unicode(from));
		else if (OidIsValid(conversion) &&
				 pg_do_encoding_conversion_buf(conversion, encoding, PG_UTF8, from, len, utf8, sizeof(utf8), true) == len)
			put_character(page, utf8_to_unicode(utf8));
		else
			put_character(page, REPLACEMENT);
	}
}

void
sliced_html_element(StringInfo page, const char *tag, const char *class, const char *text)
{
	appendStringInfo(page, "<%s", tag);
	if (class != NULL)
		appendStringInfo(page, " class=\"%s\"", class);
	appendStringInfoChar(page, '>');
	sliced_html_text(page, text);
	appendStringInfo(page, "</%s>", tag);
}

void
sliced_html_bar(StringInfo page, const SlicedBarPart *parts, int n, double full)
{
	appendStringInfoString(page, "<div class=\"bar\" aria-hidden=\"true\">");
	for (int i = 0; i < n; i++)
		if (parts[i].value > 0)
			appendStringInfo(page, "<i class=\"%s\" style=\"width:%.2f%%\"></i>", parts[i].kind,
							 Min(100 * parts[i].value / full, 100));
	appendStringInfoString(page, "</div>");
}

void
sliced_html_legend(StringInfo page, const SlicedBarPart *parts, const char *const *names, int n)
{
	appendStringInfoString(page, "<p class=\"legend\">");
	for (int i = 0; i < n; i++)
	{
		appendStringInfo(page, "<span><i class=\"%s\"></i>", parts[i].kind);
		sliced_html_text(page, names[i]);
		appendStringInfoString(page, "</span> ");
	}
	appendStringInfoString(page, "</p>\n");
}
