-- What a server that was upgraded is used for: all of it on both twins.
CALL change(false);
CALL fill(1001, 1050);
CALL twice('INSERT INTO plain$ (id, n, t, j) SELECT 2000 + id, 0, t, j FROM ONLY plain$ WHERE id BETWEEN 60 AND 80');
CALL twice('UPDATE plain$ SET t = (SELECT t FROM was$ w WHERE w.id = plain$.id) || ''x'' WHERE id BETWEEN 30 AND 60');
CALL twice('UPDATE unlogged$ SET t = t || ''x''');
CALL twice('REFRESH MATERIALIZED VIEW m$');
VACUUM plain_sliced, parts_sliced, inherits_sliced;
VACUUM FULL was_sliced;
VACUUM FULL plain_sliced;
CALL change(false);
CALL twice('CREATE TABLE later$ USING $AM AS SELECT * FROM parts$');
CALL twice('UPDATE later$ SET t = t || ''x'', j = jsonb_set(j, ''{id}'', ''0'')');
ALTER TABLE rewritten_sliced SET ACCESS METHOD heap;
