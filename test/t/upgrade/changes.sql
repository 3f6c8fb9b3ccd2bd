-- What a server that was upgraded is used for: all of it on both twins.
CALL change(false);
CALL edit(80, 99);
CALL twice('UPDATE edited$ SET a[9000] = 1');
SECURITY LABEL FOR sliced ON COLUMN plain_sliced.u IS 'compression=lz4';
CALL fill(1001, 1050);
CALL twice('INSERT INTO parts$ SELECT id, date ''2026-01-01'' + id % 59, t, j FROM ONLY plain$ WHERE id BETWEEN 1001 AND 1050');
CALL twice('INSERT INTO plain$ (id, n, t, j) SELECT 2000 + id, 0, t, j FROM ONLY plain$ WHERE id BETWEEN 60 AND 80');
CALL twice('UPDATE plain$ SET t = (SELECT t FROM was$ w WHERE w.id = plain$.id) || ''x'' WHERE id BETWEEN 30 AND 60');
CALL fill_alike(1001, 1020);
CALL twice('UPDATE alike$ SET t = t || ''x'', u = overlay(u placing ''changed'' from 100) WHERE id % 3 = 0');
SELECT sliced.train('alike_sliced');
CALL twice('UPDATE unlogged$ SET t = t || ''x''');
CALL twice('UPDATE shortened$ SET t = t || ''x'' WHERE id % 2 = 0');
CALL twice('REFRESH MATERIALIZED VIEW m$');
VACUUM plain_sliced, edited_sliced, parts_sliced, inherits_sliced;
