// Package grafana makes the platform's dashboards. Their JSON stands beside it, written by `make dashboards`, ready to be
// provisioned or imported: which Prometheus they read and which namespace they show is chosen in the dashboard.
package grafana
