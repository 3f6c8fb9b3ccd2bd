-- After changes.sql: all is written again, and new tables.
VACUUM FULL was_sliced;
VACUUM FULL plain_sliced;
VACUUM FULL edited_sliced;
VACUUM FULL alike_sliced;
CALL fill_alike(2001, 2020);
CALL change(false);
CALL twice('CREATE TABLE later$ USING $AM AS SELECT * FROM parts$');
CALL twice('UPDATE later$ SET t = t || ''x'', j = jsonb_set(j, ''{id}'', ''0'')');
ALTER TABLE rewritten_sliced SET ACCESS METHOD heap;
