#pragma once

/*
 * The life of the client, from the start until it has gone, as one const table beside that
 * of the server's process (core/supervisor.h): it only decides.
 */

enum client_state {
	CLIENT_PRESENT,
	CLIENT_UNSERVED, /* no server answers its handshake: the session has to end */
	CLIENT_DRAINING, /* its input has ended; its outstanding requests are waited for */
	CLIENT_LEFT,     /* its requests are cancelled; it may still read queued answers */
	CLIENT_STATES
};

enum client_event {
	CLIENT_STAYS,    /* nothing has happened */
	CLIENT_ENDS,     /* its input has ended */
	CLIENT_FINISHES, /* the same, and the work has to go on */
	CLIENT_TIME,     /* nobody writes its input any more, or the time of its state is over */
	CLIENT_DEAF,     /* it reads no more answers */
	CLIENT_HUNG,     /* the server does not answer its handshake */
	CLIENT_SIGNAL,   /* canceld was told to end */
	CLIENT_EVENTS
};

/* What becomes of its requests. */
enum leaving {
	LEAVE_CANCEL,     /* the client has gone: outstanding requests are cancelled */
	LEAVE_DRAIN,      /* answers are awaited; only streams are cancelled, and answered */
	LEAVE_TERMINATED, /* all is cancelled and answered, as the client may still read */
	LEAVE_NOT,        /* nothing */
};

/* Handles one event, which may come again: the next state, and how the client leaves by that. */
enum leaving client_handle(enum client_state *state, enum client_event event);
