/*
 * html.c
 *	  Pieces of an HTML page.
 */
#include "postgres.h"

#include "advise/html.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

/* Append one character of UTF-8. */
static void
put_character(StringInfo page, const unsigned char *at)
{
	pg_wchar	c = utf8_to_unicode(at);

	if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'' || c >= 0x7F)
		appendStringInfo(page, "&#%u;", (unsigned int) c);
	else if (c < ' ' && c != '\n' && c != '\t')
		appendStringInfoChar(page, ' ');
	else
		appendStringInfoChar(page, (char) c);
}

void
sliced_html_text(StringInfo page, const char *text)
{
	/* in SQL_ASCII only the bytes of ASCII have a known meaning */
	bool		is_known = GetDatabaseEncoding() != PG_SQL_ASCII;
	unsigned char *utf8 = is_known ?
		(unsigned char *) pg_server_to_any(text, strlen(text), PG_UTF8) : (unsigned char *) text;

	for (; *utf8 != '\0'; utf8 += is_known ? pg_utf_mblen(utf8) : 1)
		if (is_known || !IS_HIGHBIT_SET(*utf8))
			put_character(page, utf8);
		else
			appendStringInfoChar(page, '?');
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
		if (parts[i].value > 0 && full > 0)
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
