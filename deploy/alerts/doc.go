// Package alerts checks the Prometheus rules and Grafana dashboards of helm/gifting/files, and the runbooks, against the
// metrics that the platform exposes (metrics.txt).
//
// slo.yaml records the SLOs and slo-alerts.yaml alerts on their burn rates; delivery.yaml and platform.yaml alert on problems
// that SLOs cannot measure. `promtool test rules` runs tests/. The annotation runbook_url is a path in this repository: prefix
// it with the repository's address when you install the rules.
package alerts
