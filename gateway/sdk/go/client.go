// Package gifting calls the Partner Gifting API.
//
//	client, err := gifting.New("https://sandbox.example.com/api/public/v1", os.Getenv("GIFTING_KEY"))
//	order, err := client.Orders.Place(ctx, gifting.PlaceOrderRequest{…})
//
// Each operation of the API is a method of a group of [Client], with the same names as in the SDKs for TypeScript and Python. A
// method takes care of what the API asks of a client: the Idempotency-Key of a POST, which stays the same over all attempts,
// retries that wait as long as the server says, and limits on the time of one attempt and of all. A refusal is a [*Problem], to
// branch on by its Code.
//
// The package needs no other module. Records of the API are in models.gen.go, which is generated from the OpenAPI document; members
// that this version does not know are ignored, and values of enumerations that it does not know are kept as they are.
package gifting

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
	"unicode"
)

// The limits of a client without options.
const (
	DefaultTimeout      = 15 * time.Second
	DefaultTotalTimeout = 2 * time.Minute
	DefaultMaxAttempts  = 5
)

// Client calls the API with one key. Any number of goroutines may use it.
type Client struct {
	Account       Account
	Brands        Brands
	Campaigns     Campaigns
	Catalog       Catalog
	Events        Events
	Orders        Orders
	PersonalLinks PersonalLinks
	Sandbox       Sandbox
	Webhooks      Webhooks

	base, key, agent string
	http             *http.Client
	timeout, total   time.Duration
	attempts         int
	ignored          *ignoredNames
}

// Option changes a client.
type Option func(*Client)

var (
	errBase  = errors.New("the base URL is an absolute https address, or http of this machine")
	errKey   = errors.New("the API key has characters that no key has")
	errEmpty = errors.New("is empty: is the variable set from which it comes?")
	errSpace = errors.New("has a line break or a space, perhaps pasted with it")
	errLimit = errors.New("timeouts and the number of attempts are positive")
)

// New makes a client for a base URL, such as https://host/api/public/v1, and an API key. Plain http is accepted only for
// addresses of this machine, because it would show the key to the network.
func New(baseURL, key string, options ...Option) (*Client, error) {
	base, err := url.Parse(baseURL)
	if err != nil || base.Host == "" || strings.ContainsAny(baseURL, "?#") || base.User != nil || !keepsSecrets(base) {
		return nil, errBase
	}
	if err := checkSecret(key, "the API key"); err != nil {
		return nil, err
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errKey
	}
	c := &Client{
		base: strings.TrimRight(baseURL, "/"), key: key, agent: userAgent(), http: &http.Client{},
		timeout: DefaultTimeout, total: DefaultTotalTimeout, attempts: DefaultMaxAttempts,
		ignored: &ignoredNames{warn: func(message string) { slog.Warn(message) }, warned: map[string]bool{}},
	}
	c.Account, c.Brands, c.Campaigns, c.Catalog, c.Events = Account{c}, Brands{c}, Campaigns{c}, Catalog{c}, Events{c}
	c.Orders, c.PersonalLinks, c.Sandbox, c.Webhooks = Orders{c}, PersonalLinks{c}, Sandbox{c}, Webhooks{c}
	for _, option := range options {
		option(c)
	}
	if c.timeout <= 0 || c.total <= 0 || c.attempts <= 0 {
		return nil, errLimit
	}
	// The API redirects nothing. A redirect would send the request, and perhaps the key, elsewhere.
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// checkSecret refuses a key or secret that cannot be one: most often a variable that is not set, or a line break that was pasted.
func checkSecret(value, name string) error {
	switch {
	case value == "":
		return fmt.Errorf("%s %w", name, errEmpty)
	case strings.ContainsFunc(value, unicode.IsSpace):
		return fmt.Errorf("%s %w", name, errSpace)
	}
	return nil
}

// keepsSecrets reports whether the network cannot read the key: it is sent by https, or does not leave this machine.
func keepsSecrets(base *url.URL) bool {
	ip := net.ParseIP(base.Hostname())
	return base.Scheme == "https" || base.Scheme == "http" && (base.Hostname() == "localhost" || ip != nil && ip.IsLoopback())
}

// WithHTTPClient uses a copy of an HTTP client. Its own timeout must be longer than that of calls that wait.
func WithHTTPClient(client *http.Client) Option {
	return func(c *Client) {
		own := *client
		c.http = &own
	}
}

// WithTransport sends requests with a transport, for instance one that records or traces them.
func WithTransport(transport http.RoundTripper) Option {
	return func(c *Client) { c.http.Transport = transport }
}

// WithTimeout limits one attempt of a call, [DefaultTimeout] without it. A call that waits for events may take its wait longer.
func WithTimeout(limit time.Duration) Option { return func(c *Client) { c.timeout = limit } }

// WithTotalTimeout limits all attempts of a call with the waits between them, [DefaultTotalTimeout] without it. The deadline of
// a call's context counts too.
func WithTotalTimeout(limit time.Duration) Option { return func(c *Client) { c.total = limit } }

// WithMaxAttempts limits the attempts of a call, [DefaultMaxAttempts] without it. One means no retry.
func WithMaxAttempts(count int) Option { return func(c *Client) { c.attempts = count } }

// WithUserAgent puts a name of your program, such as shop/1.4, before that of this package.
func WithUserAgent(name string) Option {
	return func(c *Client) { c.agent = strings.TrimSpace(name) + " " + userAgent() }
}

// WithWarnings passes on what the API ignored, each name once: a member or parameter that is perhaps misspelt. Several goroutines
// may call warn at once. Without this option warnings go to [slog.Warn], with nil nowhere.
func WithWarnings(warn func(message string)) Option { return func(c *Client) { c.ignored.warn = warn } }

// BaseURL is where the client sends its calls.
func (c *Client) BaseURL() string { return c.base }

// String implements fmt.Stringer, so that no log shows the key.
func (c *Client) String() string { return "gifting.Client(" + c.base + ")" }

// GoString implements fmt.GoStringer for the same reason.
func (c *Client) GoString() string { return c.String() }

func userAgent() string {
	return "partner-gifting-go/" + Version() + " " + runtime.Version()
}

const module = "github.com/partnergifting/platform/gateway/sdk/go"

// Version is that of this module in the running program, or (devel) if it was built from a folder.
func Version() string {
	const unknown = "(devel)"
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return unknown
	}
	for _, dependency := range info.Deps {
		if dependency.Path == module && dependency.Replace == nil {
			return cmp.Or(dependency.Version, unknown)
		}
	}
	return unknown
}

// Account is what the key is.
type Account struct{ client *Client }

// Me reads the key in use, its tenant's settings and its environment.
func (a Account) Me(ctx context.Context, options ...CallOption) (*Me, error) {
	return get[Me](ctx, a.client, routeTo("/me"), nil, options)
}

// Brands are those of the tenant.
type Brands struct{ client *Client }

// List reads the brands that the key reaches.
func (b Brands) List(ctx context.Context, options ...CallOption) ([]Brand, error) {
	return items(get[[]Brand](ctx, b.client, routeTo("/brands"), nil, options))
}
