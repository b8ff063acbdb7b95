# The settings that a packager may change; no other file needs an edit. Each can also be given on make's command line.

VERSION = 0.1.0

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
MANDIR ?= $(PREFIX)/share/man
DESTDIR ?=

# Which file of src/shell/system is compiled: linux, darwin (macOS), or posix, which any system has, and which promises less.
SYSTEM := $(or $(patsubst Linux,linux,$(patsubst Darwin,darwin,$(filter Linux Darwin,$(shell uname -s)))),posix)

# Where the shells look for completions. COMPLETIONS = no: they are not installed.
COMPLETIONS ?= yes
BASHDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d

CC ?= cc
CPPFLAGS ?=
CFLAGS ?= -O2 -g
LDFLAGS ?=
AR ?= ar
INSTALL ?= install
PKG_CONFIG ?= pkg-config

# Leave empty for a toolchain without these flags.
HARDEN_CFLAGS = -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
# macOS has the latter always.
HARDEN_LDFLAGS = $(if $(filter-out darwin,$(SYSTEM)),-pie -Wl$(comma)-z$(comma)relro -Wl$(comma)-z$(comma)now)
comma = ,

# Link time optimization of the release; make finds out which flags the compiler accepts. Empty: none.
#LTO =

# libev has no pkg-config file on most systems, and no compiler of Apple's looks where Homebrew has it.
BREW := $(if $(filter darwin,$(SYSTEM)),$(shell brew --prefix 2>/dev/null))
EV_CFLAGS = $(BREW:%=-isystem %/include)
EV_LIBS = $(BREW:%=-L%/lib) -lev
JANSSON_CFLAGS := $(shell $(PKG_CONFIG) --cflags jansson 2>/dev/null)
JANSSON_LIBS := $(shell $(PKG_CONFIG) --libs jansson 2>/dev/null || echo -ljansson)

# Only for the tests.
CHECK_CFLAGS := $(shell $(PKG_CONFIG) --cflags check 2>/dev/null)
CHECK_LIBS := $(shell $(PKG_CONFIG) --libs check 2>/dev/null || echo -lcheck)
FUZZ_CC = clang
GCOV = gcov
