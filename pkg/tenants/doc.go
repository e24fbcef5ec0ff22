// Package tenants is what services know of tenants: copies of their settings, the versions that say whether a copy is still right,
// and the export and the erasure of everything that a database stores of one tenant.
package tenants
