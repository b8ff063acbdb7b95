#ifndef SCENARIO_SUBJECT_H
#define SCENARIO_SUBJECT_H

/*
 * The program under test between the two sides: canceld's core, or a blind relay, which copies bytes and knows no
 * protocol.
 */

#include <stdbool.h>

#include "core/session.h"

struct subject_kind {
	void *(*open)(const struct session_config *config, action_fn *act, void *user, msec_t now);
	void (*close)(void *self);
	void (*hear)(void *self, enum side from, struct span bytes, msec_t now);
	void (*end)(void *self, enum side from, msec_t now);
	int (*output)(void *self, enum side to, struct span *spans, int max);
	void (*sent)(void *self, enum side to, size_t n);
	void (*leave)(void *self, enum leaving leaving, msec_t now);
	void (*gone)(void *self, int status, int signal, msec_t now);
	void (*lost)(void *self, int status, int signal, msec_t now);
	void (*back)(void *self, msec_t now);
	void (*quote)(void *self, struct span words);
	void (*deaf)(void *self, bool retired, msec_t now);
	void (*shut)(void *self, msec_t now);
	void (*give_up)(void *self);
	void (*expire)(void *self, bool heard, msec_t now);
	msec_t (*wake)(void *self, bool stalled, msec_t now);
	/* NULL except for canceld. */
	struct session *(*session)(void *self);
};

extern const struct subject_kind subject_core, subject_relay;

#endif
