-- Which functions plans call, whatever has happened to a session before.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS pg_sliced;

-- Looking for our functions ends in an error half way through: then none of it
-- counts, and the next plan looks again.  A prepared transaction keeps pg_proc
-- locked for it; COPY opens the new table without a plan.
CREATE TABLE looked (j jsonb) USING sliced;
COPY looked FROM stdin;
{"a": {"b": 1}}
\.
SELECT j->'a'->'b' FROM looked;
DROP TABLE looked;
DROP EXTENSION pg_sliced;
CREATE EXTENSION pg_sliced;
CREATE TABLE looked (j jsonb) USING sliced;
COPY looked FROM stdin;
{"a": {"b": 2}}
\.
BEGIN;
LOCK pg_proc;
PREPARE TRANSACTION 'keeps pg_proc locked';
\set SHOW_CONTEXT never
SET lock_timeout = 10;
SELECT j->'a'->'b' FROM looked;
ROLLBACK PREPARED 'keeps pg_proc locked';
RESET lock_timeout;
\set SHOW_CONTEXT errors
SELECT j->'a'->'b' FROM looked;
DROP TABLE looked;
DROP EXTENSION pg_sliced;
-- the library without the extension knows no toaster, in a session that knew some and in another
CREATE TABLE plain (j jsonb) USING heap;
SECURITY LABEL FOR sliced ON TABLE plain IS 'toaster=jsonb';
\c -
LOAD 'pg_sliced';
SECURITY LABEL FOR sliced ON TABLE plain IS 'toaster=jsonb';
SET client_min_messages = warning;
DROP TABLE plain;
CREATE EXTENSION pg_sliced;
