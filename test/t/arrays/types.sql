-- Types of elements, for the tables of tables.sql.

CREATE DOMAIN natural_number AS int CHECK (VALUE >= 0);
CREATE DOMAIN list AS int[] CHECK (cardinality(VALUE) < 100000 AND VALUE[1] IS DISTINCT FROM 77);
CREATE TYPE pair AS (x int, y text, z int[]);
