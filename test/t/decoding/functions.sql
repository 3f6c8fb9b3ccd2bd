-- Values and documents of some length, always the same for the same seed.
CREATE EXTENSION pg_sliced;
CREATE FUNCTION dense(n int, seed int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT left(string_agg(encode(sha512(int4send(seed) || int4send(i)), 'hex'), ''), n)
    FROM generate_series(0, n / 128) i $$;
CREATE FUNCTION doc(n int, seed int) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('items', jsonb_agg(jsonb_build_object('sku', md5(i::text || seed),
        'price', i * seed, 'note', left(md5(seed::text || i), i % 30))), 'seed', seed)
    FROM generate_series(1, n) i $$;
