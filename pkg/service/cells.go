package service

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// cellsAge is how old a list of cells becomes before it is read again. Addresses of a cell rarely change.
const cellsAge = time.Minute

// unknownPause is the shortest time between two reads of the list for a cell that is not in it.
const unknownPause = time.Second

// Cells connects to the services of all cells. The first cell is that of the settings; the tenants service knows the others.
// Without others it costs a call with each minute that needs the list, and no connection.
type Cells struct {
	service *Service
	list    func(ctx context.Context) ([]*tenantsv1.Cell, error)
	reads   singleflight.Group

	mu     sync.Mutex
	known  map[string]*tenantsv1.Cell
	readAt time.Time
	conns  map[string]*grpc.ClientConn // By name and addresses.
}

// NewCells makes the connections of a service. list returns the cells besides the first one.
func (s *Service) NewCells(list func(ctx context.Context) ([]*tenantsv1.Cell, error)) *Cells {
	c := &Cells{service: s, list: list, conns: map[string]*grpc.ClientConn{}}
	s.CloseAtEnd(c)
	return c
}

// Letters returns the letters of all cells, that of the first one first. If the list cannot be read, it is the one read before.
func (c *Cells) Letters(ctx context.Context) []string {
	letters := []string{identity.HomeCell}
	for letter := range c.cells(ctx, "") {
		if letter != identity.HomeCell {
			letters = append(letters, letter)
		}
	}
	slices.Sort(letters)
	return letters
}

// cells returns the list, which it reads again if it is old, or does not have the letter. A list that has become old just now is
// used meanwhile: calls do not wait for a tenants service that does not answer.
func (c *Cells) cells(ctx context.Context, letter string) map[string]*tenantsv1.Cell {
	c.mu.Lock()
	known, age := c.known, time.Since(c.readAt)
	c.mu.Unlock()
	enough := letter == "" || known[letter] != nil
	if age < unknownPause || enough && age < cellsAge {
		return known
	}
	read := c.reads.DoChan("", func() (any, error) { return c.read(), nil })
	if enough && age < 2*cellsAge {
		return known
	}
	select {
	case done := <-read:
		return done.Val.(map[string]*tenantsv1.Cell)
	case <-ctx.Done():
		return known
	}
}

// read reads the list. It belongs to no call, because calls share it. If it fails, the list is the one read before, and counts as
// new: until it is old again, calls of the cells in it do not wait for another read.
func (c *Cells) read() map[string]*tenantsv1.Cell {
	ctx := context.Background()
	listed, err := c.list(ctx)
	if err != nil {
		c.service.Telemetry.Logger.WarnContext(ctx, "cannot read the list of cells", "error", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readAt = time.Now()
	if err == nil {
		c.known = make(map[string]*tenantsv1.Cell, len(listed))
		for _, cell := range listed {
			c.known[cell.GetLetter()] = cell
		}
	}
	return c.known
}

// addressIn returns the addresses of a service in a cell; empty: the cell or its service is unknown.
func addressIn(cell *tenantsv1.Cell, name identity.Name) string {
	switch name {
	case identity.Catalog:
		return cell.GetCatalogAddr()
	case identity.Orders:
		return cell.GetOrdersAddr()
	case identity.PersonalLinks:
		return cell.GetPersonalLinksAddr()
	case identity.Events:
		return cell.GetEventsAddr()
	case identity.Webhook:
		return cell.GetWebhookAddr()
	default:
		return ""
	}
}

// Dial connects to a service in every cell. A call goes to the cell that caller.InCell has set, else to the first one, at the
// address home. service_unavailable: the cell is not known, or not known yet.
func (c *Cells) Dial(
	name identity.Name, home string, interceptors ...grpc.UnaryClientInterceptor,
) (grpc.ClientConnInterface, error) {
	conn, err := c.service.Dial(name, home, interceptors...)
	if err != nil {
		return nil, err
	}
	return &cellConn{cells: c, name: name, home: conn, interceptors: interceptors}, nil
}

// Close closes the connections to the other cells.
func (c *Cells) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var errs []error
	for _, conn := range c.conns {
		errs = append(errs, conn.Close())
	}
	return errors.Join(errs...)
}

// cellConn is the connections to one service.
type cellConn struct {
	cells        *Cells
	name         identity.Name
	home         *grpc.ClientConn
	interceptors []grpc.UnaryClientInterceptor
}

// Invoke implements grpc.ClientConnInterface.
func (c *cellConn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	conn, err := c.of(ctx)
	if err != nil {
		return err
	}
	return conn.Invoke(ctx, method, args, reply, opts...)
}

// NewStream implements grpc.ClientConnInterface.
func (c *cellConn) NewStream(
	ctx context.Context, desc *grpc.StreamDesc, method string, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	conn, err := c.of(ctx)
	if err != nil {
		return nil, err
	}
	return conn.NewStream(ctx, desc, method, opts...)
}

// of returns the connection of the context's cell.
func (c *cellConn) of(ctx context.Context) (*grpc.ClientConn, error) {
	letter := caller.CellOf(ctx)
	if letter == "" || letter == identity.HomeCell {
		return c.home, nil
	}
	addr := addressIn(c.cells.cells(ctx, letter)[letter], c.name)
	if addr == "" {
		return nil, fmt.Errorf("%s in cell %q, which is not in the list of cells: %w", c.name, letter, problem.Unavailable())
	}
	return c.cells.conn(rpc.Target{Service: c.name, Addr: addr, TLS: c.cells.service.certificate}, c.interceptors)
}

// conn returns the connection to a target, which the first call makes.
func (c *Cells) conn(to rpc.Target, interceptors []grpc.UnaryClientInterceptor) (*grpc.ClientConn, error) {
	key := string(to.Service) + "/" + to.Addr
	c.mu.Lock()
	defer c.mu.Unlock()
	if conn := c.conns[key]; conn != nil {
		return conn, nil
	}
	conn, err := rpc.Dial(to, c.service.Telemetry, interceptors...)
	if err != nil {
		return nil, err
	}
	c.conns[key] = conn
	return conn, nil
}
