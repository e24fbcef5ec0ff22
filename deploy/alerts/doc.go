// Package alerts holds the platform's Prometheus rules, and the list of the metrics they and the dashboards may use.
//
// promises.yaml measures what the platform promises, promise-alerts.yaml watches how fast it is broken, delivery.yaml and
// platform.yaml watch what promises cannot count. tests/ is run by `promtool test rules`. The annotation runbook_url is a
// path of this repository, before which whoever installs the rules puts where the repository can be read.
package alerts
