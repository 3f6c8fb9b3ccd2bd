-- Put the values of golden files, which are in tables "golden" and "golden_rows", in place of
-- others: tables "golden_" and their number.
CREATE PROCEDURE plant() LANGUAGE plpgsql AS $$
DECLARE
    g golden;
    toast regclass;
    at int;
    place tid;
    bytes bytea;
BEGIN
    FOR g IN SELECT * FROM golden ORDER BY id LOOP
        EXECUTE format('CREATE TABLE golden_%s (id int PRIMARY KEY, v %s) USING sliced', g.id, g.type);
        EXECUTE format('ALTER TABLE golden_%s ALTER v SET STORAGE external', g.id);
        EXECUTE format('INSERT INTO golden_%s SELECT 1, %s RETURNING ctid', g.id, CASE g.type
            WHEN 'bytea' THEN $q$convert_to(repeat('x', 5000), 'UTF8')$q$ WHEN 'text' THEN $q$repeat('x', 5000)$q$
            WHEN 'jsonb' THEN $q$to_jsonb(repeat('x', 5000))$q$ ELSE format('array_fill(%L::%s, ARRAY[2000])', 1, rtrim(g.type, '[]')) END)
            INTO place;
        SELECT reltoastrelid::regclass INTO toast FROM pg_class WHERE oid = ('golden_' || g.id)::regclass;

        COMMIT;    -- the kind of a relation that this transaction has created stays as it is
        SET LOCAL allow_system_table_mods = on;
        UPDATE pg_class SET relkind = 'r' WHERE oid = toast;
        EXECUTE format('DELETE FROM %s', toast);
        EXECUTE format('INSERT INTO %s SELECT chunk_id, chunk_seq, chunk_data || '''' FROM golden_rows WHERE id = %s', toast, g.id);    -- not compressed
        UPDATE pg_class SET relkind = 't' WHERE oid = toast;

        -- the pointer is at the end; the marker is a bit of t_infomask2, HEAP_HASEXTERNAL one of t_infomask
        bytes := row_bytes(('golden_' || g.id)::regclass, place);
        at := length(bytes) - 18;
        IF get_byte(bytes, at) <> 1 OR get_byte(bytes, at + 1) <> 18 THEN
            RAISE EXCEPTION 'there is no pointer at the end of the row';
        END IF;
        bytes := overlay(bytes PLACING g.pointer FROM at + 1);    -- all but the toast relation's oid
        bytes := set_byte(bytes, 19, get_byte(bytes, 19) | 8);
        bytes := set_byte(bytes, 20, get_byte(bytes, 20) & 251);
        PERFORM row_poke(('golden_' || g.id)::regclass, place, 0, bytes);
        COMMIT;
    END LOOP;
END $$;
CALL plant();
