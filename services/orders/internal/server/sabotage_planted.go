//go:build planted

package server

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"

	"github.com/partnergifting/platform/services/orders/internal/rules"
)

const namedIn = 20

// sabotage names the recipient in an event at times, when PLANTED_BUG is personal.
func sabotage(data []byte, o *rules.NewOrder) []byte {
	if os.Getenv("PLANTED_BUG") != "personal" || rand.N(namedIn) > 0 { //nolint:gosec // Any event will do.
		return data
	}
	name, err := json.Marshal(o.Details.Recipient.Name)
	if err != nil {
		return data
	}
	return append(append(bytes.TrimSuffix(data, []byte("}")), `,"recipientName":`...), append(name, '}')...)
}
