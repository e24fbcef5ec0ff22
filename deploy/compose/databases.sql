-- The databases of deploy/compose.yaml, which lists them: one for each service, owned by its login and closed to others. The
-- relay's login may connect to those with an outbox and read and delete there. The passwords are for this demo only.

\getenv databases DATABASES
\getenv outboxes OUTBOXES

CREATE ROLE gifting_relay NOLOGIN;
CREATE ROLE relay LOGIN PASSWORD 'demo-relay' IN ROLE gifting_relay;

SELECT format('CREATE ROLE %I LOGIN PASSWORD %L', name, 'demo-' || name),
       format('CREATE DATABASE %I OWNER %I', name, name),
       format('REVOKE CONNECT, TEMPORARY ON DATABASE %I FROM PUBLIC', name)
  FROM string_to_table(:'databases', ' ') AS name
\gexec
SELECT format('GRANT CONNECT ON DATABASE %I TO relay', name) FROM string_to_table(:'outboxes', ' ') AS name
\gexec
