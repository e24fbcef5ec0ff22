// Package rules holds what the catalog decides without looking anything up: which requests are well
// formed, what a gift looks like to its readers, estimates, and whether a gift may be ordered.
package rules
