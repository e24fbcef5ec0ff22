package giftingctl_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/giftingctl/giftingctltest"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// hostile is a text that clears the screen, sets the title of the window, rings, and turns the direction of what follows.
const hostile = "a\x1b[2J\x1b]0;owned\x07\u009b31m\u202egpj\tb\r\nc\x7f"

func TestTextsOfTenantsCannotControlATerminal(t *testing.T) {
	t.Parallel()
	services := giftingctltest.Start(t, func(method string, _ proto.Message) (proto.Message, error) {
		if strings.HasSuffix(method, "ListRegions") {
			return nil, status.Error(codes.Internal, hostile)
		}
		return &ordersv1.ListConversationResponse{
			Entries: []*ordersv1.ConversationEntry{{Message: &ordersv1.OrderMessage{Body: hostile}}},
		}, nil
	})
	for _, output := range []string{"table", "json"} {
		for _, args := range [][]string{{"orders", "conversation", "x"}, {"regions", "list"}} {
			r := run(t, services.Config, append(args, "-o", output)...)
			shown := strings.TrimSuffix(r.out+r.err, "\n")
			require.NotEmpty(t, shown)
			for _, control := range []string{"\x1b", "\x07", "\u009b", "\u202e", "\x7f", "\r", "\t"} {
				require.NotContains(t, shown, control, output)
			}
		}
	}
	require.Contains(t, run(t, services.Config, "orders", "conversation", "x").out,
		`a\u001b[2J\u001b]0;owned\u0007\u009b31m\u202egpj b c\u007f`)
	read := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(run(t, services.Config, "orders", "conversation", "x", "-o", "json").out), &read))
	require.Contains(t, fmt.Sprint(read), hostile, "JSON has the text as it is")
}
