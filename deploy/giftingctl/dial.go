package giftingctl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// connection is a connection to one service. It identifies itself with the certificate of the chosen context.
type connection struct {
	conn *grpc.ClientConn
	addr string
	app  *app
	// status is what the last call returned.
	status *status.Status
}

var errAddress = errors.New("the context has no address of the service")

// serviceOf returns the program that serves a method, such as /gifting.orders.v1.OrderOperationsService/GetOrder.
func serviceOf(method string) identity.Name {
	switch name := strings.Split(strings.TrimPrefix(method, "/"), ".")[1]; name {
	case "personallinks":
		return identity.PersonalLinks
	case "giftsite":
		return identity.Gateway
	default:
		return identity.Name(name)
	}
}

// chosenContext is the context of the configuration file that the command uses, with its name.
type chosenContext struct {
	Context

	name   string
	config *Config
	// cell is the letter of the cell that the addresses belong to; empty: the first one.
	cell string
}

// chooseContext returns the context of --context, or else the current one.
func (a *app) chooseContext() (chosenContext, error) {
	cfg, err := readConfig(a.config)
	if err != nil {
		return chosenContext{}, err
	}
	name, found, err := cfg.named(a.context)
	return chosenContext{Context: found, name: name, config: cfg}, err
}

// address of a service.
func (c chosenContext) address(service identity.Name) (string, error) {
	addr := c.Addresses[service]
	if addr == "" {
		where := "addresses"
		if c.cell != "" {
			where = "cells." + c.cell
		}
		return "", terminal.AsUsageError(fmt.Errorf("%w: set %s.%s of %s in %s", errAddress, where, service, c.name, c.config.path))
	}
	return addr, nil
}

func (a *app) dial(c chosenContext, service identity.Name) (*connection, error) {
	addr, err := c.address(service)
	if err != nil {
		return nil, err
	}
	files, err := c.config.identity(c.name, c.Context)
	if err != nil {
		return nil, err
	}
	if err := checkKey(files.KeyFile); err != nil {
		return nil, terminal.AsUsageError(err)
	}
	made := &connection{addr: addr, app: a}
	made.conn, err = rpc.Dial(rpc.Target{Service: service, Addr: addr, TLS: files}, telemetry.Discard(), made.remember)
	if err != nil {
		return nil, terminal.AsUsageError(err)
	}
	return made, nil
}

// remember keeps the status of a call. Package rpc makes errors for customers, which do not show errors of the transport, such as a
// server that cannot be reached.
func (c *connection) remember(
	ctx context.Context, method string, req, reply any, cc *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	err := invoke(ctx, method, req, reply, cc, opts...)
	c.status = status.Convert(err)
	return err
}

// call makes a call within the timeout.
func (c *connection) call(ctx context.Context, method string, req, resp proto.Message) error {
	ctx, cancel := context.WithTimeout(ctx, c.app.timeout)
	defer cancel()
	err := c.conn.Invoke(ctx, method, req, resp)
	if err == nil {
		return nil
	}
	if ended := ctx.Err(); ended != nil {
		return &refusal{status: status.FromContextError(ended), interrupted: errors.Is(ended, context.Canceled)}
	}
	return &refusal{status: c.status}
}

func (c *connection) close() { _ = c.conn.Close() } // Nothing is lost: all calls have returned.
