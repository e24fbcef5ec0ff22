// Package rules says what a tenant's records may hold. Each rule collects the faults of one record
// and gives it back in the form that is stored: ids, e-mail addresses and locales in their one
// spelling, lists that are sets without repetitions. The result means something only when no fault
// was found.
package rules

// Longest texts, in code points.
const (
	maxName     = 255
	maxSlug     = 100
	maxURL      = 2048
	maxEmail    = 255
	maxLabel    = 255
	maxOption   = 255
	maxKeyName  = 100
	maxOptions  = 200
	maxLocales  = 200
	maxBrandIDs = 1000
)
