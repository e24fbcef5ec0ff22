package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/webhook/internal/fanout"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

var (
	errSpan     = errors.New("--from and --to are needed, as 2006-01-02T15:04:05Z, --to after --from")
	errTooOld   = errors.New("--from is before GIFTING_WEBHOOK_LOG_RETENTION: deliveries that were deleted since would be sent again")
	errNoEvents = errors.New("GIFTING_EVENTS_ADDR is needed")
	errNoTenant = errors.New("--key needs its --tenant")
	errKey      = errors.New("--key is the id of a key, a positive number")
	errNoKey    = errors.New("the tenant has no such key with a webhook")
)

// redrive are the arguments of the command Redrive.
type redrive struct {
	from, to     time.Time
	tenant       string
	key          int32
	dryRun, json bool
}

func parseRedrive(cfg Config, args []string, out io.Writer) (redrive, error) {
	var r redrive
	flags := flag.NewFlagSet("redrive", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.TextVar(&r.from, "from", time.Time{}, "events recorded at this time or later")
	flags.TextVar(&r.to, "to", time.Time{}, "events recorded before this time")
	flags.StringVar(&r.tenant, "tenant", "", "only events of this tenant")
	key := flags.Uint("key", 0,
		"only events that the key receives, also if other keys have got them; what was sent to nobody goes to all keys")
	flags.BoolVar(&r.dryRun, "dry-run", false, "only count the deliveries that are missing")
	flags.BoolVar(&r.json, "json", false, "print the result as JSON")
	if err := flags.Parse(args); err != nil {
		return r, err
	}
	asked := false
	flags.Visit(func(f *flag.Flag) { asked = asked || f.Name == "key" })
	if asked && (*key == 0 || *key > math.MaxInt32) {
		return r, errKey
	}
	r.key = int32(min(*key, math.MaxInt32))
	switch {
	case r.from.IsZero() || !r.from.Before(r.to) || flags.NArg() > 0:
		return r, errSpan
	case r.from.Before(time.Now().Add(-cfg.LogRetention)):
		return r, errTooOld
	case r.key != 0 && r.tenant == "":
		return r, errNoTenant
	case len(cfg.EventsAddr) == 0:
		return r, errNoEvents
	}
	return r, nil
}

// Redrive is the command that makes the deliveries of events of the feed that have none, or none for a given key. It may be
// interrupted and repeated, and run while the service runs.
func Redrive(ctx context.Context, cfg Config, args []string, out io.Writer) error {
	r, err := parseRedrive(cfg, args, out)
	if err != nil {
		return err
	}
	tel := telemetry.Discard()
	tenantsConn, err := rpc.Dial(rpc.Target{Service: identity.Tenants, Addr: cfg.TenantsAddr, TLS: cfg.RPC.TLS}, tel)
	if err != nil {
		return err
	}
	defer func() { _ = tenantsConn.Close() }()
	events, err := rpc.Dial(rpc.Target{Service: identity.Events, Addr: cfg.EventsAddr, TLS: cfg.RPC.TLS}, tel)
	if err != nil {
		return err
	}
	defer func() { _ = events.Close() }()
	directory := tenantsv1.NewDirectoryServiceClient(tenantsConn)
	if err := r.checkKey(ctx, directory, cfg.Cell); err != nil {
		return err
	}
	return withStore(ctx, cfg, func(s *store.Store) error {
		fan, err := fanout.New(
			fanout.Deps{Store: s, Directory: directory, Versions: &tenants.VersionReader{}, Telemetry: tel},
			fanout.Config{Topic: cfg.KafkaTopic, Environment: string(cfg.Environment), Cell: cfg.Cell})
		if err != nil {
			return err
		}
		bar := daemon.NewProgressBar(daemon.OnTerminal(os.Stderr), "events read", 0)
		done, err := r.run(ctx, eventsv1.NewFeedEventsServiceClient(events), fan, bar)
		bar.End()
		return errors.Join(err, r.report(out, done))
	})
}

// checkKey refuses a key that gets no events at all.
func (r redrive) checkKey(ctx context.Context, directory tenantsv1.DirectoryServiceClient, cell identity.Cell) error {
	if r.key == 0 {
		return nil
	}
	resp, err := directory.ListEndpoints(ctx, &tenantsv1.ListEndpointsRequest{TenantIds: []string{r.tenant}, Cell: cell.Wire()})
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(resp.GetEndpoints(), func(e *tenantsv1.EndpointSubscription) bool { return e.GetKeyId() == r.key }) {
		return fmt.Errorf("%w: %d", errNoKey, r.key)
	}
	return nil
}

func (r redrive) run(
	ctx context.Context, events eventsv1.FeedEventsServiceClient, fan *fanout.FanOut, bar *daemon.ProgressBar,
) (total fanout.Redriven, err error) {
	req := &eventsv1.ListFeedEventsRequest{RecordedFrom: timestamppb.New(r.from), RecordedBefore: timestamppb.New(r.to)}
	if r.tenant != "" {
		req.TenantId = &r.tenant
	}
	for {
		page, err := events.ListFeedEvents(ctx, req)
		if err != nil {
			return total, err
		}
		bar.Add(len(page.GetChanges()))
		done, err := fan.Redrive(ctx, page.GetChanges(), r.key, r.dryRun)
		total.Events, total.Missing = total.Events+done.Events, total.Missing+done.Missing
		total.Deliveries, total.Invalid = total.Deliveries+done.Deliveries, total.Invalid+done.Invalid
		if err != nil || page.NextPageToken == nil {
			return total, err
		}
		req.PageToken = page.NextPageToken
	}
}

func (r redrive) report(out io.Writer, done fanout.Redriven) error {
	if r.json {
		return json.NewEncoder(out).Encode(done)
	}
	_, err := fmt.Fprintf(out, "events:     %d\nmissing:    %d\ndeliveries: %d\ninvalid:    %d\n",
		done.Events, done.Missing, done.Deliveries, done.Invalid)
	return err
}

// Skip is the command that moves the stored offset of a partition forward.
func Skip(ctx context.Context, cfg Config, args []string, out io.Writer) error {
	return withStore(ctx, cfg, func(s *store.Store) error {
		return kafka.Skip(ctx, cfg.Kafka, cfg.KafkaTopic, store.Offsets{Store: s}, args, out)
	})
}

// ForgetTopic is the command that lets the fan-out begin another topic.
func ForgetTopic(ctx context.Context, cfg Config, out io.Writer) error {
	return withStore(ctx, cfg, func(s *store.Store) error {
		if err := s.ForgetTopic(ctx); err != nil {
			return err
		}
		_, err := fmt.Fprintln(out,
			"the fan-out begins at the oldest message of its topic, or at the offset of its group, when it starts")
		return err
	})
}

func withStore(ctx context.Context, cfg Config, work func(s *store.Store) error) error {
	pool, err := postgres.Open(ctx, cfg.Database)
	if err != nil {
		return err
	}
	defer pool.Close()
	return work(store.New(pool))
}
