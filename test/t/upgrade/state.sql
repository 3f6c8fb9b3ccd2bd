-- What pg_upgrade must leave as it is.
SELECT c.oid, c.relname, c.relkind, a.amname, c.reloptions, t.oid, ta.amname FROM pg_class c LEFT JOIN pg_am a ON a.oid = c.relam
    LEFT JOIN pg_class t ON t.oid = c.reltoastrelid LEFT JOIN pg_am ta ON ta.oid = t.relam
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'm', 'p') ORDER BY c.oid;
SELECT * FROM different();
SELECT * FROM parts_different();
SELECT * FROM damage();
SELECT objtype, objname, label FROM pg_seclabels WHERE provider = 'sliced' ORDER BY 1, 2;
SELECT rel, col, type, toaster, toaster_from, compression, compression_from, level, level_from, dictionary, dictionary_from FROM sliced.columns ORDER BY rel::text, col;
SELECT * FROM sliced.toasters ORDER BY name, type::text;
SELECT c.relname, s.col, count(*), md5(string_agg(concat(s.id, s.form), ',' ORDER BY s.id)) FROM pg_class c, slices(c.oid) s
    WHERE relname ~ '_sliced$' AND relname <> 'narrow_sliced' AND relkind IN ('r', 'm') GROUP BY 1, 2 ORDER BY 1, 2;
SELECT rel, col, dictionary, in_use, bytes, samples, trained_at, saves FROM sliced.dictionaries ORDER BY rel::text, col, dictionary;
SELECT * FROM sliced.dictionary_slices('alike_sliced') ORDER BY 1;
