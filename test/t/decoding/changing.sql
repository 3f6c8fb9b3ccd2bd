-- Changes of table "u" that go on until table "enough" has a row.
CREATE TABLE enough (id int PRIMARY KEY);
CREATE PROCEDURE keep_changing() LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN 1..100000 LOOP
        UPDATE u SET n = n + 1, d = jsonb_set(d, ARRAY['items', (i % 90)::text, 'price'], to_jsonb(i)) WHERE id = i % 10 + 1;
        COMMIT;
        UPDATE u SET a = a || ' line ' || i, b = overlay(b PLACING i::text FROM i % 250 + 1) WHERE id = (i + 5) % 10 + 1;
        COMMIT;
        EXIT WHEN EXISTS (SELECT FROM enough);
        PERFORM pg_sleep(0.005);
    END LOOP;
END $$;
