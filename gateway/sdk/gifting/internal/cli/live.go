package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/forward"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// verdictAsk means that no program can know it: the detail is a question to the integrator.
const verdictAsk = "ask"

// liveLine is a line of the guide "Going live", by the name that it has there. Without a check it is a question.
type liveLine struct {
	name, question string
	check          func(*doctor, context.Context, *forward.Sender) finding
}

var liveLines = []liveLine{
	{"environment", "", (*doctor).ofProduction},
	{"idempotency", "is the Idempotency-Key of each POST stored before the first attempt?", nil},
	{"retries", "has your client a timeout, and does it retry 429, 5xx and lost answers with growing waits?", nil},
	{"forced answers", "have you tested it in the sandbox with 429, 500, 503, in-progress, timeout and lost?", nil},
	{"additions", "", (*doctor).additions},
	{"money", "is money a decimal in your code, never a float?", nil},
	{"order ids", "has externalOrderId a prefix for your system?", nil},
	{"signature", "", (*doctor).signatures},
	{"receiver", "", (*doctor).answersInTime},
	{"restart", "", (*doctor).restarted},
	{"monitoring", "who is told when GET /webhooks/health says FAILING, or the feed is not read?", nil},
	{"outage", "have you tried gifting webhooks replay, or reading on in the feed?", nil},
	{"approval", "", (*doctor).approval},
	{"revocation", "who can revoke a key and rotate the secret, also at night?", nil},
	{"request ids", "is Request-Id in your logs?", nil},
	{"firewall", "", (*doctor).firewall},
	{"data protection", "has your data protection officer read the guide?", nil},
	{"changes", "who reads the change log?", nil},
}

// live adds a finding for each line.
func (d *doctor) live(ctx context.Context, receiver string, secrets []string) {
	var to *forward.Sender
	if receiver != "" && len(secrets) > 0 {
		to = forward.New(receiver, secrets...)
	}
	for _, line := range liveLines {
		found := finding{Verdict: verdictAsk, Detail: line.question}
		if line.check != nil && ctx.Err() == nil {
			found = line.check(d, ctx, to)
		}
		found.Check = "live: " + line.name
		d.found = append(d.found, found)
	}
}

func failed(detail, remedy string) finding { return finding{"", verdictFailed, detail, remedy} }

func passed(format string, values ...any) finding {
	return finding{"", verdictOK, fmt.Sprintf(format, values...), ""}
}

// noReceiver is the finding of a check that needs a receiver, if there is none.
var noReceiver = finding{"", verdictLeftOut, "no receiver and secret to test", "pass --forward-to and GIFTING_WEBHOOK_SECRET"}

func (d *doctor) ofProduction(context.Context, *forward.Sender) finding {
	switch {
	case d.me.Environment == gifting.EnvironmentSandbox:
		return failed("the key is of the sandbox", "use the key, the webhook secret and the address of production")
	case !strings.HasPrefix(d.BaseURL(), "https://"):
		return failed("the address does not begin with https", "use "+d.BaseURL()+" with https")
	}
	return passed("key and address are of production")
}

// additions checks that the receiver accepts a type of event and a member that are newer than it.
func (*doctor) additions(ctx context.Context, to *forward.Sender) finding {
	if to == nil {
		return noReceiver
	}
	event := forward.Ping()
	event.Type = "order.of_a_later_version"
	event.Raw = json.RawMessage(strings.NewReplacer(`"ping"`, `"`+string(event.Type)+`"`, `"data":{}`, `"data":{"later":true}`).
		Replace(string(event.Raw)))
	if v := to.Send(ctx, event); !v.Delivered {
		return failed("an event of a type that is newer than your receiver was refused: "+v.Error, "answer 204 and ignore it")
	}
	return passed("an event of an unknown type is accepted")
}

// signatures checks what the signature of a webhook can look like.
func (*doctor) signatures(ctx context.Context, to *forward.Sender) finding {
	if to == nil {
		return noReceiver
	}
	const other = "0000000000000000000000000000000000000000000000000000000000000000"
	newest := to.Secrets[len(to.Secrets)-1]
	spaced := forward.Ping()
	spaced.Raw = json.RawMessage(strings.Replace(string(spaced.Raw), `"data":{}`, `"data": { }, "n": 1.50`, 1))
	for _, c := range []struct {
		what, remedy string
		event        gifting.Event
		age          time.Duration
		secrets      []string
		accepted     bool
	}{
		{"a right one", "verify with the text of the secret: gifting verify says more", forward.Ping(), 0, []string{newest}, true},
		{"one of a body with spaces", "verify the raw body, before it is parsed", spaced, 0, []string{newest}, true},
		{"one of two, as during a rotation,", "accept if any v1 is equal", forward.Ping(), 0, []string{newest, other}, true},
		{"a wrong one", "verify each request, and answer 400 or 401", forward.Ping(), 0, []string{other}, false},
		{"an old one", "refuse it if t differs by more than five minutes", forward.Ping(), 6 * time.Minute, []string{newest}, false},
	} {
		v := forward.New(to.URL, c.secrets...).SendAt(ctx, c.event, time.Now().Add(-c.age))
		switch {
		case v.Status == 0:
			return failed("no answer: "+v.Error, "start the receiver")
		case v.Delivered != c.accepted:
			return failed(fmt.Sprintf("%s was answered HTTP %d", c.what, v.Status), c.remedy)
		}
	}
	return passed("right ones are accepted, also of two; wrong and old ones are refused")
}

// slowAnswer is half of the time that a receiver has.
const slowAnswer = 5 * time.Second

func (d *doctor) answersInTime(context.Context, *forward.Sender) finding {
	switch {
	case d.pinged == 0:
		return finding{"", verdictAsk, "does your receiver answer within ten seconds, and drop events whose id it knows?", ""}
	case d.pinged > slowAnswer:
		return finding{"", verdictWarning, fmt.Sprintf("the ping took %s", d.pinged), "answer first, and process the event afterwards"}
	}
	return passed("the ping took %s. Does it drop events whose id it knows?", d.pinged)
}

// restarted looks for a delivery that was retried until it succeeded.
func (d *doctor) restarted(ctx context.Context, _ *forward.Sender) finding {
	const newest = 100
	query := gifting.ListWebhookDeliveriesQuery{State: gifting.WebhookDeliveryStateDELIVERED, Paging: gifting.Paging{Limit: newest}}
	page, err := d.Webhooks.Deliveries(ctx, query).First()
	if err != nil {
		return failed(err.Error(), "")
	}
	for _, delivery := range page.Items {
		if len(delivery.Attempts) > 1 {
			return passed("%s was delivered at attempt %d", delivery.Type, len(delivery.Attempts))
		}
	}
	return finding{
		"", verdictWarning, "none of the last deliveries was retried", "stop your receiver, start it again, and see the retries",
	}
}

func (d *doctor) approval(context.Context, *forward.Sender) finding {
	if d.me.Tenant.ApprovalRequired {
		return finding{"", verdictAsk, "who approves orders and links in the workspace? Your tenant requires it, and a key cannot", ""}
	}
	return passed("your tenant requires none")
}

func (d *doctor) firewall(context.Context, *forward.Sender) finding {
	if d.pinged == 0 {
		return finding{"", verdictAsk, "you reach the API. Can it reach your receiver, or do you read the feed only?", ""}
	}
	return passed("you reach the API, and it reaches your receiver")
}
