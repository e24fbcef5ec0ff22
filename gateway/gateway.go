// Package gateway is the edge of the platform: it authenticates API keys, limits them, checks what
// every request has in common and turns REST calls into gRPC calls of the services that own the
// operations.
package gateway

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/metric"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/gateway/internal/access"
	"github.com/partnergifting/platform/gateway/internal/docs"
	"github.com/partnergifting/platform/gateway/internal/edge"
	"github.com/partnergifting/platform/gateway/internal/giftsite"
	"github.com/partnergifting/platform/gateway/internal/idempotent"
	"github.com/partnergifting/platform/gateway/internal/images"
	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/gateway/internal/operation"
	"github.com/partnergifting/platform/gateway/internal/problems"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/redisconn"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Config of the gateway.
type Config struct {
	HTTPAddr          string `env:"HTTP_ADDR" envDefault:"127.0.0.1:8080" check:"listen" doc:"host:port the REST API listens on."`
	Telemetry         telemetry.Config
	TLS               identity.Config    `envPrefix:"TLS_"`
	Environment       apikey.Environment `env:"ENVIRONMENT" envDefault:"sandbox" check:"oneof=production|sandbox" doc:"Which deployment this is: keys of the other one are refused."`
	PublicURL         string             `env:"PUBLIC_URL" envDefault:"http://127.0.0.1:8080/api/public/v1" check:"web" doc:"Base address of the API as callers see it."`
	TenantsAddr       string             `env:"TENANTS_ADDR,required" check:"hostports" doc:"The tenants service: a name of which DNS knows all instances, or the instances."`
	CatalogAddr       string             `env:"CATALOG_ADDR,required" check:"hostports" doc:"The catalog service: a name of which DNS knows all instances, or the instances."`
	OrdersAddr        string             `env:"ORDERS_ADDR,required" check:"hostports" doc:"The orders service: a name of which DNS knows all instances, or the instances."`
	PersonalLinksAddr string             `env:"PERSONAL_LINKS_ADDR,required" check:"hostports" doc:"The personal-links service: a name of which DNS knows all instances, or the instances."`
	EventsAddr        string             `env:"EVENTS_ADDR,required" check:"hostports" doc:"The events service: a name of which DNS knows all instances, or the instances."`
	WebhookAddr       string             `env:"WEBHOOK_ADDR,required" check:"hostports" doc:"The webhook service: a name of which DNS knows all instances, or the instances."`
	RedisURL          string             `env:"REDIS_URL" check:"url=redis|rediss|unix" secret:"true" doc:"Redis that counts requests; empty: each instance counts for itself."`
	RedisBudget       time.Duration      `env:"REDIS_BUDGET" envDefault:"50ms" check:"min=1ms,max=10s" doc:"How long a request may wait for Redis before its instance counts for itself."`
	TrustedProxies    []string           `env:"TRUSTED_PROXIES" check:"networks" doc:"Addresses or prefixes of the load balancers whose X-Forwarded-For is believed."`
	// LameDuck zero: the end begins at once. DrainTimeout zero: 15 s.
	LameDuck       time.Duration `env:"LAME_DUCK" envDefault:"5s" check:"min=0s,max=5m" doc:"How long requests are still taken after the end has begun, so that balancers learn to go elsewhere."`
	DrainTimeout   time.Duration `env:"DRAIN_TIMEOUT" envDefault:"15s" check:"min=1s" doc:"How long the end waits for running requests."`
	FingerprintKey string        `env:"FINGERPRINT_KEY,required" check:"base64=32" secret:"true" doc:"Keys the hashes of requests; the same on every gateway."`
}

// Validate implements the check of package settings.
func (c Config) Validate() error { return settings.Invalid("REDIS_URL", redisconn.Check(c.RedisURL)) }

// The limits of the API (API specification, section Limits).
const (
	keyLimit     = 300
	imageLimit   = 600
	failureLimit = 60
	limitWindow  = time.Minute
)

// The limits of the gift site for an address, which many players of a mobile network may share.
const (
	visitLimit   = 300
	claimLimit   = 60
	unknownLimit = 60
)

const (
	headerTimeout = 10 * time.Second
	readTimeout   = 60 * time.Second
	// writeTimeout begins with the request's header: it covers reading, the call and the answer.
	writeTimeout = 90 * time.Second
	idleTimeout  = 2 * time.Minute
	// defaultDrainTimeout is longer than any call of a service.
	defaultDrainTimeout = 15 * time.Second
	maxHeaderLen        = 64 << 10
)

// Gateway is the running edge.
type Gateway struct {
	cfg    Config
	tel    *telemetry.Telemetry
	writer problems.Writer
	redis  *redis.Client
	conns  []*grpc.ClientConn
	server *http.Server

	serving, leaving atomic.Bool
}

// New builds the gateway. It connects to nothing yet: a service that is down answers
// service_unavailable until it is back.
func New(ctx context.Context, cfg Config, tel *telemetry.Telemetry) (*Gateway, error) {
	if err := cfg.Environment.Validate(); err != nil {
		return nil, err
	}
	g := &Gateway{cfg: cfg, tel: tel, writer: problems.Writer{DocsURL: cfg.PublicURL + "/docs"}}
	if err := g.assemble(ctx); err != nil {
		g.close(ctx)
		return nil, err
	}
	return g, nil
}

func (g *Gateway) assemble(ctx context.Context) error {
	if err := g.openRedis(); err != nil {
		return err
	}
	services, err := g.dial()
	if err != nil {
		return err
	}
	handler, err := g.handler(ctx, services)
	if err != nil {
		return err
	}
	g.server = &http.Server{
		Handler:           g.hangUp(handler),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderLen,
		// OPTIONS * is a request like any other: nobody unauthenticated learns anything.
		DisableGeneralOptionsHandler: true,
	}
	return nil
}

func (g *Gateway) openRedis() error {
	if g.cfg.RedisURL == "" {
		return nil
	}
	client, err := redisconn.Open(g.cfg.RedisURL)
	if err != nil {
		return err
	}
	g.redis = client
	return redisconn.Observe(client, g.tel)
}

func (g *Gateway) dial() (edge.Services, error) {
	var s edge.Services
	register := &idempotent.Register{Log: g.tel.Logger}
	for _, service := range []struct {
		name identity.Name
		addr string
		conn **grpc.ClientConn
	}{
		{identity.Tenants, g.cfg.TenantsAddr, &s.Tenants},
		{identity.Catalog, g.cfg.CatalogAddr, &s.Catalog},
		{identity.Orders, g.cfg.OrdersAddr, &s.Orders},
		{identity.PersonalLinks, g.cfg.PersonalLinksAddr, &s.PersonalLinks},
		{identity.Events, g.cfg.EventsAddr, &s.Events},
		{identity.Webhook, g.cfg.WebhookAddr, &s.Webhook},
	} {
		conn, err := rpc.Dial(rpc.Target{Service: service.name, Addr: service.addr, TLS: g.cfg.TLS}, g.tel, edge.ClaimKey(register), edge.SendCaller)
		if err != nil {
			return s, err
		}
		*service.conn = conn
		g.conns = append(g.conns, conn)
	}
	register.Client = commonv1.NewIdempotencyRegisterServiceClient(s.Orders)
	return s, nil
}

func (g *Gateway) handler(ctx context.Context, services edge.Services) (http.Handler, error) {
	table, err := operation.New()
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(g.cfg.FingerprintKey)
	if err != nil || len(key) < minFingerprintKey {
		return nil, errFingerprintKey
	}
	proxies, err := edge.ParseProxies(g.cfg.TrustedProxies)
	if err != nil {
		return nil, err
	}
	meter := g.tel.Meters.Meter("gateway")
	https := strings.HasPrefix(g.cfg.PublicURL, "https://")
	observer, err := edge.NewObserver(ctx, g.tel, https)
	if err != nil {
		return nil, err
	}
	keyLimiter, err := g.limiter(meter, limits.Policy{Name: "key", Limit: keyLimit, Window: limitWindow})
	if err != nil {
		return nil, err
	}
	imageLimiter, err := g.limiter(meter, limits.Policy{Name: "images", Limit: imageLimit, Window: limitWindow})
	if err != nil {
		return nil, err
	}
	next, err := edge.NewTranscoder(ctx, services, g.writer, g.tel.Logger)
	if err != nil {
		return nil, err
	}
	pages, err := docs.New(g.cfg.PublicURL)
	if err != nil {
		return nil, err
	}
	site, err := g.giftSite(meter, services, proxies)
	if err != nil {
		return nil, err
	}
	return &edge.Handler{
		Operations:    table,
		Keys:          access.NewKeys(tenantsv1.NewDirectoryServiceClient(services.Tenants), g.cfg.Environment, time.Now),
		Limiter:       keyLimiter,
		Proxies:       proxies,
		Failures:      limits.NewWindow(limits.Policy{Limit: failureLimit, Window: limitWindow}, time.Now),
		Fingerprinter: idempotent.Fingerprinter{Key: key},
		Problems:      g.writer,
		Next:          next,
		Images: images.New(images.Options{
			Prefix:   edge.BasePath + edge.ImagesPath,
			Images:   catalogv1.NewImagesServiceClient(services.Catalog),
			Limiter:  imageLimiter,
			Problems: g.writer,
			ClientIP: proxies.ClientIP,
			Clock:    time.Now,
			Log:      g.tel.Logger,
		}),
		Docs:     pages,
		HTTPS:    https,
		GiftSite: site,
		Observer: observer,
		Log:      g.tel.Logger,
	}, nil
}

func (g *Gateway) giftSite(meter metric.Meter, services edge.Services, proxies edge.Proxies) (http.Handler, error) {
	visits, err := g.limiter(meter, limits.Policy{Name: "visits", Limit: visitLimit, Window: limitWindow})
	if err != nil {
		return nil, err
	}
	claims, err := g.limiter(meter, limits.Policy{Name: "claims", Limit: claimLimit, Window: limitWindow})
	if err != nil {
		return nil, err
	}
	return giftsite.New(giftsite.Options{
		Links:     linksv1.NewGiftSiteServiceClient(services.PersonalLinks),
		PublicURL: g.cfg.PublicURL,
		Visits:    visits,
		Claims:    claims,
		Unknown:   limits.NewWindow(limits.Policy{Limit: unknownLimit, Window: limitWindow}, time.Now),
		ClientIP:  proxies.ClientIP,
		Log:       g.tel.Logger,
	})
}

const minFingerprintKey = 32

var errFingerprintKey = errors.New("the fingerprint key must be base64 of at least 32 bytes")

func (g *Gateway) limiter(meter metric.Meter, p limits.Policy) (*limits.Limiter, error) {
	o := limits.Options{Policy: p, Budget: g.cfg.RedisBudget, Meter: meter, Clock: time.Now}
	if g.redis != nil { // A nil client in the interface would not be nil.
		o.Redis = g.redis
	}
	return limits.New(o)
}

// Run serves until ctx ends. Then /readyz says no; for LameDuck requests are served as before, each
// answer closing its connection, so that callers and balancers go elsewhere; after it running requests
// get DrainTimeout to finish.
func (g *Gateway) Run(ctx context.Context) error {
	defer g.close(ctx)
	return daemon.Run(ctx, g.tel.Logger,
		daemon.Part{Name: "http", Run: g.serve},
		daemon.Metrics(g.tel, g.ready),
	)
}

func (g *Gateway) close(ctx context.Context) {
	var faults []error
	for _, conn := range g.conns {
		faults = append(faults, conn.Close())
	}
	if g.redis != nil {
		faults = append(faults, g.redis.Close())
	}
	if err := errors.Join(faults...); err != nil {
		g.tel.Logger.WarnContext(ctx, "close connections", "error", err)
	}
}
