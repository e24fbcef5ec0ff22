package cli

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/forward"
	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// The verdicts of a check.
const (
	verdictOK      = "ok"
	verdictWarning = "warning"
	verdictFailed  = "FAILED"
	verdictLeftOut = "left out"
)

// finding is the result of one check.
type finding struct {
	Check   string `json:"check"`
	Verdict string `json:"verdict"`
	Detail  string `json:"detail"`
	// Remedy says what to do.
	Remedy string `json:"remedy,omitempty"`
}

// Differences of clocks: the tolerance of signatures is five minutes.
const (
	clockWarning = 30 * time.Second
	clockFailure = gifting.DefaultTolerance - 30*time.Second
)

// doctor makes the checks.
type doctor struct {
	*gifting.Client

	found []finding
	me    *gifting.Me
	// pinged is how long a ping took that the receiver accepted.
	pinged time.Duration
}

func (d *doctor) add(check, verdict, remedy, detail string, values ...any) {
	d.found = append(d.found, finding{check, verdict, fmt.Sprintf(detail, values...), remedy})
}

func (a *app) doctorCommand() *cobra.Command {
	var receiver, secretFile string
	var live bool
	command := a.command("doctor", "Find out what is wrong: key, scopes, clock, webhook, signature", func(
		ctx context.Context, client *gifting.Client, _ []string,
	) error {
		secrets, err := a.webhookSecrets(secretFile)
		if err != nil {
			return err
		}
		if receiver != "" {
			if receiver, err = receiverAddress(receiver); err != nil {
				return err
			}
		}
		found := diagnose(ctx, client, receiver, secrets, live)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return a.printFindings(found)
	})
	command.Long = `doctor checks the key, its scopes and brands, the clock of this machine, and the key's webhook: it sends a
ping to the webhook URL. With --forward-to it also sends your receiver a ping that is signed right and one
that is signed wrong, which it must refuse.

With --live it also goes through the guide "Going live", line by line. It asks you what it cannot see.`
	command.Flags().StringVar(&receiver, "forward-to", "", "address of your receiver on this machine, such as localhost:3000/webhooks")
	command.Flags().StringVar(&secretFile, "secret-file", "",
		"the file with the signing secret of your receiver; also GIFTING_WEBHOOK_SECRET")
	command.Flags().BoolVar(&live, "live", false, "also check each line of the guide \"Going live\"")
	return command
}

// diagnose makes all checks. Without a receiver and its secrets, that of the signature is left out.
func diagnose(ctx context.Context, client *gifting.Client, receiver string, secrets []string, live bool) []finding {
	d := &doctor{Client: client}
	accepted := d.key(ctx)
	if accepted {
		d.scopes()
		d.webhook(ctx)
	}
	d.signature(ctx, receiver, secrets)
	if live && accepted {
		d.live(ctx, receiver, secrets)
	}
	return d.found
}

func (a *app) printFindings(found []finding) error {
	if a.output == terminal.AsJSON {
		if err := terminal.JSON(a.Out, found); err != nil {
			return err
		}
	} else {
		rows := make([][]string, len(found))
		for i, f := range found {
			rows[i] = []string{f.Check, f.Verdict, f.Detail}
			if f.Remedy != "" {
				rows[i][2] += ". " + strings.ToUpper(f.Remedy[:1]) + f.Remedy[1:]
			}
		}
		if err := terminal.Table(a.Out, nil, rows); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(found, func(f finding) bool { return f.Verdict == verdictFailed }) {
		return errCheckFailed
	}
	return nil
}

// key checks that the API accepts the key. The answer also has the time for the check of the clock.
func (d *doctor) key(ctx context.Context) bool {
	var response gifting.Response
	me, err := d.Account.Me(ctx, gifting.WithResponse(&response))
	d.clock(response.Header)
	problem, answered := gifting.ProblemOf(err)
	switch {
	case err == nil:
		d.me = me
		d.add("key", verdictOK, "", "%s (%s…) of %s, %s", me.Key.Name, me.Key.Prefix, me.Tenant.Name, me.Environment)
		return true
	case answered && problem.Code == gifting.CodeInvalidAPIKey:
		d.add("key", verdictFailed, "check that the key and the address are of the same environment, and that the key is not revoked",
			"the API does not accept it")
	case answered:
		d.add("key", verdictFailed, "check the address, and quote the request "+problem.RequestID, "%v", problem)
	default:
		d.add("key", verdictFailed, "check the address "+d.BaseURL()+", your network and its proxies", "no answer: %v", err)
	}
	return false
}

func (d *doctor) clock(header http.Header) {
	at, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		d.add("clock", verdictLeftOut, "", "the API did not say its time")
		return
	}
	difference := time.Since(at).Round(time.Second)
	const remedy = "set the clock of this machine (NTP): signatures older than five minutes are refused"
	switch off := difference.Abs(); {
	case off >= clockFailure:
		d.add("clock", verdictFailed, remedy, "differs by %s", difference)
	case off >= clockWarning:
		d.add("clock", verdictWarning, remedy, "differs by %s", difference)
	default:
		d.add("clock", verdictOK, "", "differs by less than %s", clockWarning)
	}
}

func (d *doctor) scopes() {
	missing := []string{}
	for _, scope := range []gifting.KeyScopes{gifting.KeyScopesCATALOG, gifting.KeyScopesORDERS, gifting.KeyScopesPERSONALLINKS} {
		if !slices.Contains(d.me.Key.Scopes, scope) {
			missing = append(missing, string(scope))
		}
	}
	if len(missing) > 0 {
		d.add("scopes", verdictWarning, "an Administrator makes a key with more scopes, if you need them", "the key lacks %s",
			strings.Join(missing, ", "))
	} else {
		d.add("scopes", verdictOK, "", "all")
	}
	if d.me.Key.BrandIDs != nil && len(d.me.Key.BrandIDs) == 0 {
		d.add("brands", verdictFailed, "an Administrator gives the key a brand", "the key reaches none")
	} else if d.me.Key.BrandIDs != nil {
		d.add("brands", verdictOK, "", "the key is limited to %d", len(d.me.Key.BrandIDs))
	} else {
		d.add("brands", verdictOK, "", "all")
	}
}

// webhook checks that the platform reaches the key's webhook URL.
func (d *doctor) webhook(ctx context.Context) {
	if d.me.Key.WebhookURL == nil {
		d.add("webhook", verdictLeftOut, "an Administrator sets it; until then read the feed, or use gifting listen",
			"the key has no webhook URL")
		return
	}
	began := time.Now()
	result, err := d.Webhooks.Test(ctx)
	switch {
	case err != nil:
		d.add("webhook", verdictFailed, "", "%v", err)
	case result.Error != nil || result.ResponseStatus == nil:
		d.add("webhook", verdictFailed,
			"the receiver must answer 2xx within ten seconds, by HTTPS at a public address, without a redirect", "%s", text(result.Error))
	default:
		d.pinged = max(time.Since(began).Round(time.Millisecond), time.Millisecond)
		d.add("webhook", verdictOK, "", "the receiver answered HTTP %d to a ping", *result.ResponseStatus)
	}
	health, err := d.Webhooks.Health(ctx)
	switch {
	case err != nil:
		d.add("deliveries", verdictFailed, "", "%v", err)
	case health.State == gifting.WebhookHealthStateFAILING && health.FailingSince != nil:
		d.add("deliveries", verdictFailed, "see gifting webhooks deliveries, then gifting webhooks replay",
			"failing since %s, %d wait: %s", timeText(*health.FailingSince), health.Pending, text(health.LastError))
	default:
		d.add("deliveries", verdictOK, "", "%s, %d wait", strings.ToLower(string(health.State)), health.Pending)
	}
}

// signature checks that a receiver accepts what is signed right, and only that.
func (d *doctor) signature(ctx context.Context, receiver string, secrets []string) {
	if receiver == "" || len(secrets) == 0 {
		d.add("signature", verdictLeftOut, "pass --forward-to and GIFTING_WEBHOOK_SECRET", "no receiver and secret to test")
		return
	}
	ping := forward.Ping()
	right := forward.New(receiver, secrets...).Send(ctx, ping)
	wrong := forward.New(receiver, strings.Repeat("0", 64)).Send(ctx, ping)
	switch {
	case right.Status == 0:
		d.add("signature", verdictFailed, "start the receiver", "no answer: %s", right.Error)
	case !right.Delivered:
		d.add("signature", verdictFailed, "verify the raw body with the text of the secret: gifting verify says more",
			"a right signature was refused: %s", right.Error)
	case wrong.Delivered:
		d.add("signature", verdictFailed, "verify the signature of each request, and answer 400 or 401 if it is wrong",
			"a wrong signature was accepted: HTTP %d", wrong.Status)
	default:
		d.add("signature", verdictOK, "", "a right one is accepted, a wrong one refused with HTTP %d", wrong.Status)
	}
}
