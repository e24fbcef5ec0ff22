//go:build !planted

package server

import "github.com/partnergifting/platform/services/orders/internal/rules"

// sabotage does nothing: only the build tag planted makes events that name the recipient on purpose.
func sabotage(data []byte, _ *rules.NewOrder) []byte { return data }
