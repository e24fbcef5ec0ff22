//go:build planted

package store

import (
	"os"
	"strings"
)

// sabotage breaks the reading of an order on purpose. PLANTED_BUG says how: foreign finds one of any tenant, stale gives one
// in five the version before its own.
func sabotage(statement string) string {
	switch os.Getenv("PLANTED_BUG") {
	case "foreign":
		return strings.Replace(statement, "tenant_id = $1", "$1::text <> ''", 1)
	case "stale":
		return strings.Replace(statement, " version,", " version - (random() < 0.2)::int,", 1)
	default:
		return statement
	}
}
