package giftingctl

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	"github.com/partnergifting/platform/pkg/identity"
)

const (
	// statusTimeout is how long status waits for all programs.
	statusTimeout = 5 * time.Second
	// maxMetrics is far more than the metrics of a program have, and maxReason is how much is shown of why it is not ready.
	maxMetrics, maxReason = 4 << 20, 300
)

var (
	errNoMetrics   = errors.New("name the metrics ports of all instances as arguments, or set metrics")
	errMetricsPort = errors.New("is not host:port")
	errNotMetrics  = errors.New("has no metrics of a program of the platform")
	errNotReady    = errors.New("is not ready")
	errNoAnswer    = errors.New("does not answer in time")
	errNotWell     = errors.New("lines are not ok: see deploy/runbooks")
)

// statusCommand says whether the platform is well. It reads the metrics from which the alerts are made.
func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use: "status [HOST:PORT...]", Short: "Say whether the platform is well, by the metrics of all its programs",
		Args: cobra.ArbitraryArgs,
		Long: `status reads /metrics and /readyz of all programs. It says of each part whether it is ok, by the limits of the alerts, and
otherwise names the runbook. The exit code is 1 if a line is not ok.

The arguments are the metrics ports of all instances. Without arguments, metrics of the context has them. All instances behind
a name are read.`,
		RunE: func(command *cobra.Command, args []string) error {
			ports, err := a.metricsPorts(args)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(command.Context(), min(a.timeout, statusTimeout))
			defer cancel()
			found := readInstances(ctx, ports)
			if command.Context().Err() != nil {
				return stopped()
			}
			return a.printStatus(statusLines(found))
		},
	}
}

func (a *app) printStatus(lines []statusLine) error {
	rows, wrong := make([][]string, len(lines)), 0
	for i, l := range lines {
		rows[i] = []string{l.what, l.state, l.detail, l.runbook}
		if l.state == stateOK {
			rows[i][3] = ""
			continue
		}
		wrong++
	}
	if err := a.printRows([]string{"what", "state", "detail", "runbook"}, rows); err != nil || wrong == 0 {
		return err
	}
	return fmt.Errorf("%d of %d %w", wrong, len(lines), errNotWell)
}

// instance is what one process says of itself.
type instance struct {
	addr string
	// program is empty if it is not known.
	program identity.Name
	version string
	samples []sample
	// err is why it is not ready, or cannot be read.
	err error
}

// sample is the value of a series.
type sample struct {
	metric string
	labels map[string]string
	value  float64
}

// metricsPorts are the instances that the arguments name, or else the context.
func (a *app) metricsPorts(args []string) (ports []instance, err error) {
	for _, addr := range args {
		ports = append(ports, instance{addr: addr})
	}
	if len(args) == 0 {
		target, err := a.chooseContext()
		if err != nil {
			return nil, err
		}
		for _, program := range identity.Programs() {
			for _, addr := range strings.FieldsFunc(target.Metrics[program], func(r rune) bool { return r == ',' || r == ' ' }) {
				ports = append(ports, instance{program: program, addr: addr})
			}
		}
		if len(ports) == 0 {
			return nil, terminal.AsUsageError(fmt.Errorf("%w of %s in %s", errNoMetrics, target.name, target.config.path))
		}
	}
	for _, p := range ports {
		if _, _, err := net.SplitHostPort(p.addr); err != nil {
			return nil, terminal.AsUsageError(fmt.Errorf("%q %w", p.addr, errMetricsPort))
		}
	}
	return ports, nil
}

// readInstances reads all instances at the same time.
func readInstances(ctx context.Context, ports []instance) (found []instance) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // No proxy reaches the ports.
	var all sync.WaitGroup
	var lock sync.Mutex
	report := func(i instance) {
		lock.Lock()
		defer lock.Unlock()
		found = append(found, i)
	}
	for _, port := range ports {
		all.Go(func() {
			addresses, err := lookUp(ctx, port.addr)
			if err != nil {
				port.err = err
				report(port)
			}
			for _, addr := range addresses {
				one := port
				one.addr = addr
				all.Go(func() { report(readInstance(ctx, client, one)) })
			}
		})
	}
	all.Wait()
	slices.SortFunc(found, func(a, b instance) int { return cmp.Compare(a.addr, b.addr) })
	return found
}

// lookUp returns the addresses of all instances behind a name, such as that of a headless service. An instance with addresses of
// both families counts once.
func lookUp(ctx context.Context, addr string) (all []string, err error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	var found []netip.Addr
	for _, family := range []string{"ip4", "ip6"} {
		if found, err = net.DefaultResolver.LookupNetIP(ctx, family, host); len(found) > 0 {
			break
		}
	}
	for _, ip := range found {
		all = append(all, net.JoinHostPort(ip.Unmap().String(), port))
	}
	return all, err
}

func readInstance(ctx context.Context, client *http.Client, i instance) instance {
	code, body, err := get(ctx, client, i.addr, "/metrics")
	if err != nil {
		i.err = err
		return i
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(body))
	read := instance{addr: i.addr}
	for name, family := range families {
		for _, m := range family.GetMetric() {
			s := sample{name, map[string]string{}, m.GetGauge().GetValue() + m.GetCounter().GetValue() + m.GetUntyped().GetValue()}
			for _, label := range m.GetLabel() {
				s.labels[label.GetName()] = label.GetValue()
			}
			read.samples = append(read.samples, s)
			if name == "target_info" {
				read.program, read.version = identity.Name(s.labels["service_name"]), s.labels["service_version"]
			}
		}
	}
	if code != http.StatusOK || err != nil || !slices.Contains(identity.Programs(), read.program) {
		i.err = errNotMetrics
		return i
	}
	code, body, read.err = get(ctx, client, i.addr, "/readyz")
	if read.err == nil && code != http.StatusOK {
		read.err = fmt.Errorf("%w: %.*s", errNotReady, maxReason, bytes.TrimSpace(body))
	}
	return read
}

// get makes a request and reads at most maxMetrics bytes of the answer.
func get(ctx context.Context, client *http.Client, addr, path string) (code int, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+path, http.NoBody)
	if err != nil {
		return 0, nil, err
	}
	response, err := client.Do(request)
	if err == nil {
		defer func() { _ = response.Body.Close() }()
		code = response.StatusCode
		body, err = io.ReadAll(io.LimitReader(response.Body, maxMetrics))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return 0, nil, errNoAnswer
	}
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // The line has the address.
	}
	return code, body, err
}
