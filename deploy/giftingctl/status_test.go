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
	"github.com/partnergifting/platform/pkg/problem"
)

func TestEveryStatusHasAnExitCodeAndWords(t *testing.T) {
	t.Parallel()
	var answer error
	services := giftingctltest.Start(t, func(string, proto.Message) (proto.Message, error) { return nil, answer })
	for _, info := range problem.Registry() {
		t.Run(string(info.Code), func(t *testing.T) {
			answer = &problem.Error{
				Code: info.Code, Detail: "why",
				Violations: []problem.Violation{{Field: "name", Code: problem.FieldTooLong, Message: "is long"}},
			}
			refused := run(t, services.Config, "regions", "list")
			want := 1
			if info.GRPC == codes.Unavailable {
				want = 3
			}
			require.Equal(t, want, refused.code)
			require.True(t, strings.HasPrefix(refused.err, fmt.Sprintf("giftingctl: %s (%s): ", info.Title, info.Code)), refused.err)
			require.True(t, strings.HasSuffix(refused.err, "why\n  name: is long (too_long)\n"), refused.err)
		})
	}
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		t.Run("without a problem "+code.String(), func(t *testing.T) {
			answer = status.Error(code, "why")
			refused := run(t, services.Config, "regions", "list", "-o", "json")
			want, name := 1, strings.ToLower(code.String())
			if code == codes.Unavailable || code == codes.DeadlineExceeded {
				want, name = 3, string(problem.ServiceUnavailable)
			}
			require.Equal(t, want, refused.code)
			require.Empty(t, refused.out)
			first, _, _ := strings.Cut(refused.err, "\n")
			shown := map[string]any{}
			require.NoError(t, json.Unmarshal([]byte(first), &shown), refused.err)
			require.Equal(t, name, shown["code"])
			require.Contains(t, shown["detail"], "why")
		})
	}
}

func TestAServerThatDoesNotAnswerInTime(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})
	defer close(ended)
	services := giftingctltest.Start(t, func(string, proto.Message) (proto.Message, error) {
		<-ended
		return nil, nil
	})
	late := run(t, services.Config, "orders", "message", "x", "Hello", "--timeout", "200ms")
	require.Equal(t, 3, late.code)
	require.Contains(t, late.err, "Nothing is done twice if you repeat the command with --message-id ")
}
