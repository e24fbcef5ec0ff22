package assistant

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

var (
	errProduction = errors.New("this key is of production: nothing was done. A person may start the server with --allow-production")
	errDeclined   = errors.New("the person did not confirm it: nothing was done")
	errChanged    = errors.New("this is not what the person was asked about: nothing was done")
)

const confirmation = "confirm"

// act sends a request that has an effect, in production after a person has confirmed this very request. about returns the first
// lines of what the person is asked; the members of the request follow.
func act[T any](
	ctx context.Context, t *tools, req *mcp.CallToolRequest, request any, about func(tenant string) []string,
	send func(once gifting.CallOption) (T, error),
) (*mcp.CallToolResult, any, error) {
	proof, err := t.proofOf(req.Params.Name, request)
	if err != nil {
		return nil, nil, err
	}
	me, err := t.Client.Account.Me(ctx)
	if err != nil {
		return nil, nil, err
	}
	reply, replied := req.Params.InputResponses[confirmation].(*mcp.ElicitResult)
	switch {
	case me.Environment == gifting.EnvironmentSandbox:
	case !t.Production:
		return nil, nil, errProduction
	case !replied:
		text, err := question(about(me.Tenant.Name), request)
		return &mcp.CallToolResult{
			InputRequests: mcp.InputRequestMap{confirmation: &mcp.ElicitParams{Message: text}}, RequestState: proof,
		}, nil, err
	case !hmac.Equal([]byte(req.Params.RequestState), []byte(proof)):
		return nil, nil, errChanged
	case reply.Action != "accept":
		return nil, nil, errDeclined
	}
	key, _ := t.unanswered.LoadOrStore(proof, rand.Text())
	answer, err := send(gifting.WithIdempotencyKey(key.(string)))
	problem, answered := gifting.ProblemOf(err)
	// An attempt before one that was limited, or that found the first one in progress, may have taken effect.
	limited := answered && problem.Status == http.StatusTooManyRequests
	if err == nil || answered && problem.Status < 500 && !limited && problem.Code != gifting.CodeIdempotencyRequestInProgress {
		t.unanswered.Delete(proof) // The same request is a new one from now on.
	}
	return nil, answer, err
}

// proofOf is a MAC of a request to a tool. It shows that the person was asked about this very request.
func (t *tools) proofOf(tool string, request any) (string, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, t.proofKey)
	mac.Write([]byte(tool + "\n"))
	mac.Write(text)
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), nil
}

// longText is a text that comes last in a question, so that it moves nothing else out of sight.
const longText = 200

var plainPath = regexp.MustCompile(`^[\w.\[\]]+$`)

// question shows a person every member of a request, one a line, below lines about it. The assistant may have been led astray, so
// each text is quoted: none can begin a line of its own or hide another.
func question(lines []string, request any) (string, error) {
	members, err := terminal.Members(request)
	if err != nil {
		return "", err
	}
	for _, long := range []bool{false, true} {
		for _, m := range members {
			value := fmt.Sprint(m.Value)
			if long != (len(value) > longText) {
				continue
			}
			if _, quoted := m.Value.(string); quoted {
				value = strconv.Quote(value)
			}
			if !plainPath.MatchString(m.Path) {
				m.Path = strconv.Quote(m.Path) // The assistant chooses the names of variations.
			}
			lines = append(lines, m.Path+": "+value)
		}
	}
	return strings.Join(lines, "\n"), nil
}
