-- What `giftingctl bootstrap databases` prints for deploy/compose.yaml, whose passwords are for this demo only. Written by
-- go test -tags manifests ./deploy/compose -run TestTheDatabases -write

\set ON_ERROR_STOP on
SELECT 'CREATE ROLE "tenants_migrate" LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tenants_migrate')
\gexec
ALTER ROLE "tenants_migrate" PASSWORD 'SCRAM-SHA-256$4096:dr65iy7Nq70it+h0Be8hLg==$5cqolGcuxp1KXNti55gYD24dmCYA1WRDro+Qvj1kcaY=:3ErSY1o9WusB73WnmclvE4lwqMsUYQOkTbL+AqvaLyk=';
SELECT 'CREATE ROLE "tenants" LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tenants')
\gexec
ALTER ROLE "tenants" PASSWORD 'SCRAM-SHA-256$4096:+IPYGNE7UTZlFxCrHESdiA==$nbDD0vu4OFiKv4/TPUrsO435ImSMwtRFH/7GFJGTPwc=://Wk/7mZ0m1wHe00pezmKwwYxg0WHgyUMhKF5eR6vgc=';
SELECT 'GRANT "tenants_migrate" TO CURRENT_USER' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = current_user AND rolsuper)
\gexec
SELECT 'CREATE DATABASE "tenants" OWNER "tenants_migrate"' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'tenants')
\gexec
REVOKE CONNECT, TEMPORARY ON DATABASE "tenants" FROM PUBLIC;
GRANT CONNECT ON DATABASE "tenants" TO "tenants";
\connect "tenants"
ALTER DEFAULT PRIVILEGES FOR ROLE "tenants_migrate" GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO "tenants";
ALTER DEFAULT PRIVILEGES FOR ROLE "tenants_migrate" GRANT USAGE, SELECT, UPDATE ON SEQUENCES TO "tenants";
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "tenants";
GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO "tenants";
SELECT 'CREATE ROLE "catalog_migrate" LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'catalog_migrate')
\gexec
ALTER ROLE "catalog_migrate" PASSWORD 'SCRAM-SHA-256$4096:80oU/N5OWVi38pWf3cOBnw==$jvPJpJK4UnG+XO4+N9II3Vnr2kZ3RTxU/6BKkILILwQ=:sZsEB7CISNwjJhIsQbyIqpEE7QCxQjUZuLFyipItAM8=';
SELECT 'CREATE ROLE "catalog" LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'catalog')
\gexec
ALTER ROLE "catalog" PASSWORD 'SCRAM-SHA-256$4096:8gHXCPkjJY7ZLVm9cfeAhQ==$Q6dmNcz3nCmhe8tsi7aV4keIYTasMKOv/7zjEiXcL74=:pyzsoMwZqgXoDq3oUR26jnWVEsgucbuvCVZ24Lwf2sM=';
SELECT 'GRANT "catalog_migrate" TO CURRENT_USER' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = current_user AND rolsuper)
\gexec
SELECT 'CREATE DATABASE "catalog" OWNER "catalog_migrate"' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'catalog')
\gexec
REVOKE CONNECT, TEMPORARY ON DATABASE "catalog" FROM PUBLIC;
GRANT CONNECT ON DATABASE "catalog" TO "catalog";
\connect "catalog"
ALTER DEFAULT PRIVILEGES FOR ROLE "catalog_migrate" GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO "catalog";
ALTER DEFAULT PRIVILEGES FOR ROLE "catalog_migrate" GRANT USAGE, SELECT, UPDATE ON SEQUENCES TO "catalog";
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "catalog";
GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO "catalog";
SELECT 'CREATE ROLE "orders_migrate" LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'orders_migrate')
\gexec
ALTER ROLE "orders_migrate" PASSWORD 'SCRAM-SHA-256$4096:ulcWVe1QfjHTlSIuIRdB4g==$qCZkfLxcM/JN+Q0kyj98YqxjO6tEI/FYPs1J0oRYryE=:/tkTxQe++pPAjimcyue/+RRaDZWOMRb4XM/Bo6zUX3A=';
SELECT 'CREATE ROLE "orders" LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'orders')
\gexec
ALTER ROLE "orders" PASSWORD 'SCRAM-SHA-256$4096:eQm9B4yQcepxCLrAgbDynA==$BqOaLK9x4Dz1mfqAqWRry9pIgvtEG/Iveuw17Rhkr90=:U63nbp3IkdNLrGF7QXb2ve5xOKMLi8fbG83Fi3s4oMs=';
SELECT 'GRANT "orders_migrate" TO CURRENT_USER' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = current_user AND rolsuper)
\gexec
SELECT 'CREATE DATABASE "orders" OWNER "orders_migrate"' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'orders')
\gexec
REVOKE CONNECT, TEMPORARY ON DATABASE "orders" FROM PUBLIC;
GRANT CONNECT ON DATABASE "orders" TO "orders";
\connect "orders"
ALTER DEFAULT PRIVILEGES FOR ROLE "orders_migrate" GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO "orders";
ALTER DEFAULT PRIVILEGES FOR ROLE "orders_migrate" GRANT USAGE, SELECT, UPDATE ON SEQUENCES TO "orders";
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "orders";
GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO "orders";
SELECT 'CREATE ROLE gifting_relay NOLOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'gifting_relay')
\gexec
SELECT 'CREATE ROLE "relay_login" LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'relay_login')
\gexec
ALTER ROLE "relay_login" PASSWORD 'SCRAM-SHA-256$4096:BHSfZgpZfdjRP8F7PY+Q7w==$vkyhpXrizJFXMgVY6rXh7beriQMYg5QAZyhE+dUGaoY=:jl7apms36wyt2XvaS5Wzy+vQXvZtu83uwvafxIXQ74o=';
GRANT gifting_relay TO "relay_login";
GRANT CONNECT ON DATABASE "orders" TO "relay_login";
SELECT 'CREATE ROLE "links_migrate" LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'links_migrate')
\gexec
ALTER ROLE "links_migrate" PASSWORD 'SCRAM-SHA-256$4096:u6OoYV3ET8HhX+5c3GIJWw==$dX8k6OIojsOJR2W75JH2muXEIKSLdkduZweLtL6J1nc=:0JusMlW+CjQScqPqIDHYsFD9S+kLcjuTMvmAscFczvM=';
SELECT 'CREATE ROLE "links" LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'links')
\gexec
ALTER ROLE "links" PASSWORD 'SCRAM-SHA-256$4096:kO75WDoIlGKB3qEeFEN2RQ==$vQXLywditiN8Ro9xrmjav4G5ile+LWQzQs+COcvBh1Q=:tOc/GHHgRY4ZXLx7ZH/SIUYWyLPYiIl8SGsZk+G71/U=';
SELECT 'GRANT "links_migrate" TO CURRENT_USER' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = current_user AND rolsuper)
\gexec
SELECT 'CREATE DATABASE "links" OWNER "links_migrate"' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'links')
\gexec
REVOKE CONNECT, TEMPORARY ON DATABASE "links" FROM PUBLIC;
GRANT CONNECT ON DATABASE "links" TO "links";
\connect "links"
ALTER DEFAULT PRIVILEGES FOR ROLE "links_migrate" GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO "links";
ALTER DEFAULT PRIVILEGES FOR ROLE "links_migrate" GRANT USAGE, SELECT, UPDATE ON SEQUENCES TO "links";
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "links";
GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO "links";
SELECT 'CREATE ROLE gifting_relay NOLOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'gifting_relay')
\gexec
SELECT 'CREATE ROLE "relay_login" LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'relay_login')
\gexec
ALTER ROLE "relay_login" PASSWORD 'SCRAM-SHA-256$4096:BHSfZgpZfdjRP8F7PY+Q7w==$vkyhpXrizJFXMgVY6rXh7beriQMYg5QAZyhE+dUGaoY=:jl7apms36wyt2XvaS5Wzy+vQXvZtu83uwvafxIXQ74o=';
GRANT gifting_relay TO "relay_login";
GRANT CONNECT ON DATABASE "links" TO "relay_login";
SELECT 'CREATE ROLE "events_migrate" LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'events_migrate')
\gexec
ALTER ROLE "events_migrate" PASSWORD 'SCRAM-SHA-256$4096:AQevgombGznhpIPh9ULnBQ==$Y8amZNFpVl7Nw7gnjbxYZBlypqEVt96+eozLKig9Hds=:2ijHzbWsbIHlAhZ/mNkz5mD4yM/UGISPliMo15/mOT0=';
SELECT 'CREATE ROLE "events" LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'events')
\gexec
ALTER ROLE "events" PASSWORD 'SCRAM-SHA-256$4096:iP7Chh3UtX38/kKQEcYBSw==$XFjVk/XFkFG4PyNIjzyQ1V+jr+eO0HHNgZ2htMzBYWw=:dUxjFIPFjOCGLNRBG12Ub8RWIdnF5c3oPQgUes84IKI=';
SELECT 'GRANT "events_migrate" TO CURRENT_USER' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = current_user AND rolsuper)
\gexec
SELECT 'CREATE DATABASE "events" OWNER "events_migrate"' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'events')
\gexec
REVOKE CONNECT, TEMPORARY ON DATABASE "events" FROM PUBLIC;
GRANT CONNECT ON DATABASE "events" TO "events";
\connect "events"
GRANT "events_migrate" TO "events";
ALTER ROLE "events" IN DATABASE "events" SET role TO "events_migrate";
SELECT 'CREATE ROLE "webhook_migrate" LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'webhook_migrate')
\gexec
ALTER ROLE "webhook_migrate" PASSWORD 'SCRAM-SHA-256$4096:jftATMGxVPoswO+n1F4Dtw==$g/CNykHK4K4CF9dpYm/Be5LB3eU2bmqGgDF2FBNj12I=:6EPVv7bnLkACAMFfNjwD3cVc2dWVIkiFKK9onv7T2Yk=';
SELECT 'CREATE ROLE "webhook" LOGIN' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'webhook')
\gexec
ALTER ROLE "webhook" PASSWORD 'SCRAM-SHA-256$4096:jRWdzRsZ0XEdNLLwWuscAA==$0H9DvskZ+GtgGNrbgSoELMcItnaXiO2Idr9Sy/d9/D0=:2UjGc4Qk/t1xDsSZzAfd73uYdMVz33G30U3Rvu9x0cE=';
SELECT 'GRANT "webhook_migrate" TO CURRENT_USER' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = current_user AND rolsuper)
\gexec
SELECT 'CREATE DATABASE "webhook" OWNER "webhook_migrate"' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'webhook')
\gexec
REVOKE CONNECT, TEMPORARY ON DATABASE "webhook" FROM PUBLIC;
GRANT CONNECT ON DATABASE "webhook" TO "webhook";
\connect "webhook"
ALTER DEFAULT PRIVILEGES FOR ROLE "webhook_migrate" GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO "webhook";
ALTER DEFAULT PRIVILEGES FOR ROLE "webhook_migrate" GRANT USAGE, SELECT, UPDATE ON SEQUENCES TO "webhook";
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO "webhook";
GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO "webhook";
