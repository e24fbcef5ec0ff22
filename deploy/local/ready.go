package local

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/partnergifting/platform/pkg/identity"
)

// attempt bounds one question whether a part is ready.
const attempt = 2 * time.Second

var errNotReady = errors.New("not ready")

// serviceReady asks a service's gRPC health and its /readyz.
func (s wiring) serviceReady(name identity.Name) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		conn := s.certificates.dial(name, s.addr(portOf(name)))
		defer func() { _ = conn.Close() }()
		if err := serving(ctx, conn); err != nil {
			return err
		}
		return answers(ctx, "http://"+s.addr(portOf(name)+toMetrics)+"/readyz", http.StatusOK)
	}
}

// gatewayReady asks the gateway's /readyz and the API itself, which wants a key.
func (c Config) gatewayReady(ctx context.Context) error {
	if err := answers(ctx, "http://"+c.addr(portGateway+toMetrics)+"/readyz", http.StatusOK); err != nil {
		return err
	}
	return answers(ctx, c.publicURL()+"/me", http.StatusUnauthorized)
}

func (c Config) inboxReady(ctx context.Context) error {
	return answers(ctx, c.inboxURL()+"/", http.StatusOK)
}

func serving(ctx context.Context, conn grpc.ClientConnInterface) error {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	health, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
	if err != nil {
		return err
	}
	if health.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		return fmt.Errorf("%w: %s", errNotReady, health.GetStatus())
	}
	return nil
}

func answers(ctx context.Context, url string, want int) error {
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != want {
		return fmt.Errorf("%w: %s answers %s", errNotReady, url, res.Status)
	}
	return nil
}

// groupsReady asks Kafka whether the consumer groups have shared out their partitions, so that the first change is
// not held up by that.
func groupsReady(brokers string, groups ...string) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		transport := &kafka.Transport{}
		defer transport.CloseIdleConnections()
		client := &kafka.Client{Addr: kafka.TCP(strings.Split(brokers, ",")...), Transport: transport, Timeout: attempt}
		described, err := client.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: groups})
		if err != nil {
			return fmt.Errorf("consumer groups: %w", err)
		}
		for _, group := range described.Groups {
			if group.Error != nil || group.GroupState != "Stable" {
				return fmt.Errorf("%w: consumer group %s is %s", errNotReady, group.GroupID, group.GroupState)
			}
		}
		return nil
	}
}
