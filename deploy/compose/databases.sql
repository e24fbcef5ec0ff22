-- The databases of deploy/compose.yaml: one for each service, which its login owns and no other login may use, and the
-- relay's login, which may read and empty the outboxes. The passwords are for this demo only.

CREATE ROLE gifting_relay NOLOGIN;
CREATE ROLE relay LOGIN PASSWORD 'demo-relay' IN ROLE gifting_relay;

CREATE ROLE tenants LOGIN PASSWORD 'demo-tenants';
CREATE ROLE catalog LOGIN PASSWORD 'demo-catalog';
CREATE ROLE orders LOGIN PASSWORD 'demo-orders';
CREATE ROLE links LOGIN PASSWORD 'demo-links';
CREATE ROLE events LOGIN PASSWORD 'demo-events';
CREATE ROLE webhook LOGIN PASSWORD 'demo-webhook';

CREATE DATABASE tenants OWNER tenants;
CREATE DATABASE catalog OWNER catalog;
CREATE DATABASE orders OWNER orders;
CREATE DATABASE links OWNER links;
CREATE DATABASE events OWNER events;
CREATE DATABASE webhook OWNER webhook;

REVOKE CONNECT, TEMPORARY ON DATABASE tenants, catalog, orders, links, events, webhook FROM PUBLIC;
GRANT CONNECT ON DATABASE orders, links TO relay;
