package giftingctl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	"github.com/partnergifting/platform/pkg/enumname"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// Fields that follow from the context.
const (
	tenantField = "tenant_id"
	actorField  = "actor"
)

var (
	errArguments = errors.New("the arguments are")
	errTenant    = errors.New("name the tenant: --tenant ID, or tenant in the context")
	errRequired  = errors.New("missing flags")
	errActor     = errors.New("the actor's kind is none of")
)

// callCommand is the command of a row of the table.
type callCommand struct {
	call

	app    *app
	fields []*field
	// file is the request as JSON, with -f; out is the file of a document or a text, and all asks for all pages.
	file, out string
	all       bool
}

func (a *app) command(c call, verb string) *cobra.Command {
	cc := &callCommand{call: c, app: a, fields: c.requestFields()}
	command := &cobra.Command{
		Use: verb + cc.usage(), Short: c.short, Args: cc.checkArguments, ValidArgsFunction: cc.completeArguments,
		RunE: func(command *cobra.Command, args []string) error { return cc.run(command, args) },
	}
	for _, f := range cc.fields {
		if cc.isFlag(f) {
			cc.addFlag(command, f)
		}
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVarP(&cc.file, "file", "f", "",
		"read the request from a file of JSON; - is the standard input. Flags replace its values")
	if !c.readOnly {
		flags.BoolVar(&a.dryRun, "dry-run", false, "print the request and where it would be sent, and send nothing")
	}
	if c.document != "" {
		flags.StringVar(&cc.out, "out", "", "the file to write, which only you may read (required)")
	}
	if c.text != "" {
		flags.StringVar(&cc.out, "out", "-", "the file to write; - is the standard output")
	}
	if cc.cursorField() != nil && c.document == "" {
		flags.BoolVar(&cc.all, "all", false, "all pages, not only one")
	}
	return command
}

// method finds a method of the contract by its full name.
func method(name string) protoreflect.MethodDescriptor {
	full := protoreflect.FullName(strings.ReplaceAll(strings.TrimPrefix(name, "/"), "/", "."))
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(full)
	terminal.Must(err)
	return found.(protoreflect.MethodDescriptor)
}

func newMessage(descriptor protoreflect.MessageDescriptor) proto.Message {
	found, err := protoregistry.GlobalTypes.FindMessageByName(descriptor.FullName())
	terminal.Must(err)
	return found.New().Interface()
}

// isFlag reports whether the field is a flag: neither the tenant, nor an argument, nor one of omit.
func (c *callCommand) isFlag(f *field) bool {
	return f.key != tenantField && !slices.Contains(c.args, f.key) && !slices.Contains(c.omit, f.key)
}

func (c *callCommand) addFlag(command *cobra.Command, f *field) {
	help := f.help()
	switch {
	case slices.Contains(c.required, f.key):
		help = strings.TrimSpace(help + " (required)")
	case f.key == c.generatedID:
		help = "UUID; without it a new one is made"
	}
	flag := command.Flags().VarPF(f, f.name, "", help)
	if f.descriptor().Kind() == protoreflect.BoolKind && !f.descriptor().IsList() {
		flag.NoOptDefVal = "true"
	}
	if f.descriptor().Enum() != nil {
		complete := cobra.FixedCompletions(choices(f.descriptor()), cobra.ShellCompDirectiveNoFileComp)
		terminal.Must(command.RegisterFlagCompletionFunc(f.name, complete))
	}
}

func (c *callCommand) named(key string) *field {
	return c.fields[slices.IndexFunc(c.fields, func(f *field) bool { return f.key == key })]
}

// usage shows the arguments. One that can be made is optional.
func (c *callCommand) usage() string {
	var text strings.Builder
	for _, key := range c.args {
		f := c.named(key)
		name := strings.ToUpper(strings.ReplaceAll(f.name, "-", "_"))
		if f.Type() == "file" {
			name = "FILE"
		}
		if key == c.generatedID {
			name = "[" + name + "]"
		}
		text.WriteString(" " + name)
	}
	return text.String()
}

func (c *callCommand) checkArguments(command *cobra.Command, args []string) error {
	least := len(c.args)
	if slices.Contains(c.args, c.generatedID) || command.Flags().Changed("file") {
		least = 0
	}
	if len(args) < least || len(args) > len(c.args) {
		return terminal.AsUsageError(fmt.Errorf("%w %s", errArguments, strings.TrimSpace(command.Use)))
	}
	return nil
}

// arguments requires a number of arguments.
func arguments(count int) cobra.PositionalArgs {
	return func(command *cobra.Command, args []string) error {
		if len(args) != count {
			return terminal.AsUsageError(fmt.Errorf("%w %s", errArguments, command.Use))
		}
		return nil
	}
}

func (c *callCommand) completeArguments(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) >= len(c.args) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	switch f := c.named(c.args[len(args)]); {
	case f.descriptor().Enum() != nil:
		return choices(f.descriptor()), cobra.ShellCompDirectiveNoFileComp
	case f.Type() == "file":
		return nil, cobra.ShellCompDirectiveDefault
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// request builds the request from the file, the arguments, the flags and the context, in this order.
func (c *callCommand) request(command *cobra.Command, args []string, target chosenContext) (proto.Message, error) {
	req := newMessage(method(c.method).Input())
	p := parser{in: c.app.In}
	if c.file != "" {
		if err := p.readFile(c.file, req); err != nil {
			return nil, terminal.AsUsageError(err)
		}
	}
	for i, text := range args {
		f := c.named(c.args[i])
		f.values = []string{text}
		if err := p.setField(req.ProtoReflect(), f); err != nil {
			return nil, terminal.AsUsageError(fmt.Errorf("%s: %w", f.name, err))
		}
	}
	for _, f := range c.fields {
		if !c.isFlag(f) || !command.Flags().Changed(f.name) {
			continue
		}
		if err := p.setField(req.ProtoReflect(), f); err != nil {
			return nil, terminal.AsUsageError(fmt.Errorf("--%s: %w", f.name, err))
		}
	}
	if err := c.checkRequired(command); err != nil {
		return nil, err
	}
	return req, c.addDefaults(command, req.ProtoReflect(), target)
}

// checkRequired refuses a command without its required flags: if it replaces a record, a field that is left out becomes empty.
func (c *callCommand) checkRequired(command *cobra.Command) error {
	if c.file != "" {
		return nil
	}
	var missing []string
	for _, key := range c.required {
		if name := c.named(key).name; !command.Flags().Changed(name) {
			missing = append(missing, "--"+name)
		}
	}
	if len(missing) > 0 {
		return terminal.AsUsageError(fmt.Errorf("%w %s", errRequired, strings.Join(missing, ", ")))
	}
	return nil
}

// addDefaults sets what is not on the command line: the tenant, the actor and a new id.
func (c *callCommand) addDefaults(command *cobra.Command, req protoreflect.Message, target chosenContext) error {
	if fd := req.Descriptor().Fields().ByName(tenantField); fd != nil && !slices.Contains(c.args, tenantField) {
		tenant, chosen := target.Tenant, command.Flags().Changed("tenant")
		if chosen {
			tenant = c.app.tenant
		}
		switch {
		case req.Has(fd) && !chosen: // The file's tenant goes before the context's.
		case tenant != "":
			req.Set(fd, protoreflect.ValueOfString(tenant))
		case !fd.HasOptionalKeyword():
			return terminal.AsUsageError(errTenant)
		}
	}
	if fd := req.Descriptor().Fields().ByName(actorField); fd != nil && !req.Has(fd) {
		actor, err := target.actor()
		if err != nil {
			return err
		}
		req.Set(fd, protoreflect.ValueOfMessage(actor.ProtoReflect()))
	}
	if c.generatedID == "" || len(c.named(c.generatedID).values) > 0 || c.file != "" {
		return nil
	}
	f := c.named(c.generatedID)
	f.values = []string{uuid.NewString()}
	return parser{}.setField(req, f)
}

// actor is the person for whom the commands of the context act.
func (c chosenContext) actor() (*commonv1.Actor, error) {
	kind, ok := enumname.Parse[commonv1.ActorKind](strings.ToUpper(strings.ReplaceAll(c.Actor.Kind, "-", "_")))
	if !ok {
		return nil, terminal.AsUsageError(fmt.Errorf("%w tenant-account, tenant-client, backoffice-account, system: %q of %s in %s",
			errActor, c.Actor.Kind, c.name, c.config.path))
	}
	return &commonv1.Actor{Kind: kind, Id: c.Actor.ID, Name: c.Actor.Name}, nil
}
