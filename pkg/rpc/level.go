package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// ContractLevel is the level of the contracts that the servers of this release have. Raise it by one in a release whose servers
// know a method or a field that callers will rely on, and say in levels who needs it of whom. A new operation of the API, or a new
// member of a request, is such a case: a gateway that offers it before the services know it could only answer 503.
const ContractLevel = 2

const (
	// firstLevel is that of the first release. Every program needs it of every peer.
	firstLevel = 1
	// levelHeader is in the response of a health check.
	levelHeader = "gifting-contract-level"
	// levelTimeout bounds a look-up, and the check of an instance. One that does not answer delays the start by so much.
	levelTimeout = 2 * time.Second
)

// levels is the table of which level a program needs of a peer, where it is more than firstLevel. Two programs must not need a new
// level of each other, also not by way of others: each would wait for the other.
var levels = map[identity.Name]map[identity.Name]int{
	// Players thank for their gifts, see them on other devices, and have their initials put on them. A claim of an Idempotency-Key
	// that is made twice counts once.
	identity.Gateway:       {identity.PersonalLinks: 2, identity.Orders: 2},
	identity.PersonalLinks: {identity.Orders: 2, identity.Catalog: 2},
}

// levelNeeded returns the level that the program needs of each instance of the peer before it is ready.
func levelNeeded(program, peer identity.Name) int { return max(firstLevel, levels[program][peer]) }

// levelHealth reports the level of the server in each health check.
type levelHealth struct{ *health.Server }

// Check implements grpc.health.v1.Health.
func (h levelHealth) Check(ctx context.Context, req *healthpb.HealthCheckRequest) (*healthpb.HealthCheckResponse, error) {
	_ = grpc.SetHeader(ctx, metadata.Pairs(levelHeader, strconv.Itoa(ContractLevel))) // It fails only outside of a call.
	return h.Server.Check(ctx, req)
}

// Peer is a service whose instances are asked for their levels.
type Peer struct {
	target        Target
	creds         credentials.TransportCredentials
	resolver      *net.Resolver
	failedLookUps int
}

// NewPeer makes a Peer with the credentials of a client.
func NewPeer(to Target, tel *telemetry.Telemetry) (*Peer, error) {
	creds, err := to.credentials(tel)
	if err != nil {
		return nil, fmt.Errorf("peer %s: %w", to.Service, err)
	}
	return &Peer{target: to, creds: creds, resolver: net.DefaultResolver}, nil
}

var errLevel = errors.New("an instance of a peer is too old for this program")

// maxFailedLookUps is how many look-ups may fail before the service counts as one without instances. In a cluster whose DNS does
// not reach that of the world, the name of a service without a ready instance may fail as if the DNS were broken, and services that
// wait for each other would never start.
const maxFailedLookUps = 20

// Check returns an error if an instance of the service answers with a level below that which the program needs, or with none, and
// at first also if its name cannot be looked up. An instance that does not answer passes: services start in any order, and calls
// fail until they are there. It is not safe for concurrent use.
func (p *Peer) Check(ctx context.Context, program identity.Name) error {
	needed := levelNeeded(program, p.target.Service)
	var checks errgroup.Group
	for _, name := range p.target.addrs() {
		host, port, err := net.SplitHostPort(name)
		if err != nil {
			return fmt.Errorf("address of %s: %w", p.target.Service, err)
		}
		found, err := p.lookUp(ctx, host)
		if err != nil && p.failedLookUps < maxFailedLookUps {
			p.failedLookUps++
			return fmt.Errorf("look for instances of %s: %w", p.target.Service, err)
		}
		for _, ip := range found {
			checks.Go(func() error {
				addr := net.JoinHostPort(ip, port)
				if level, ok := p.level(ctx, addr, name); ok && level < needed {
					return fmt.Errorf("%w: %s at %s has contract level %d, and %s needs %d",
						errLevel, p.target.Service, addr, level, program, needed)
				}
				return nil
			})
		}
	}
	return checks.Wait()
}

// lookUp returns the addresses of a host, and none if there is no such host: then no instance is ready.
func (p *Peer) lookUp(ctx context.Context, host string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, levelTimeout)
	defer cancel()
	found, err := p.resolver.LookupHost(ctx, host)
	if failed, ok := errors.AsType[*net.DNSError](err); ok && failed.IsNotFound {
		return nil, nil
	}
	return found, err
}

// level returns the level of the instance at the address, which is 0 if it reports none, and false if it does not answer.
func (p *Peer) level(ctx context.Context, addr, name string) (level int, ok bool) {
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(p.creds), grpc.WithAuthority(name),
		grpc.WithNoProxy())
	if err != nil {
		return 0, false
	}
	defer func() { _ = conn.Close() }()
	ctx, cancel := context.WithTimeout(ctx, levelTimeout)
	defer cancel()
	var sent metadata.MD
	if _, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{}, grpc.Header(&sent)); err != nil {
		return 0, false
	}
	for _, text := range sent.Get(levelHeader) {
		level, _ = strconv.Atoi(text)
	}
	return level, true
}
