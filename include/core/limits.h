#pragma once

/*
 * The constants that bound or time something and that the core or several parts of the shell use;
 * those of one part of the shell stand in its own header. The manual lists under LIMITS what a user
 * can notice. Bytes and milliseconds.
 */

enum {
	LIMIT_TEXT = 64 << 10, /* a longer line of text that is no JSON is not kept */
	LIMIT_READ = 64 << 10, /* one read */
	LIMIT_HIGH = 4 << 20,  /* more queued for one side: stop reading the other one */
	LIMIT_LOW = 1 << 20,   /* less than this: read it again */
	/* canceld's own answers, queued for the client: stop reading it */
	LIMIT_CLIENT_OWN = 2 << 20,
	LIMIT_SERVER_OWN = 8 << 20,
	LIMIT_BEATS_OWN = 64 << 10, /* ... with more of them no --heartbeat is added */
	LIMIT_MESSAGE = 256 << 20,  /* --max-message */
	/*
	 * bytes of requests that --parallel holds: another one is refused; of one that is copied
	 * for another server, times those outstanding, so that all n copies are at most this times
	 * 1 + 1/2 + ... + 1/n
	 */
	LIMIT_HELD = 4 << 20,
	/*
	 * bytes at the beginning and at the end of a longer message in which its id is looked for
	 */
	LIMIT_HEAD = 4 << 10,
	LIMIT_TOLD = 1 << 10,   /* bytes of a long line of text that the log gets */
	LIMIT_INFLIGHT = 65536, /* --max-inflight */
	LIMIT_TOMBSTONES = 65536,
	LIMIT_EQUAL_IDS = 64, /* outstanding requests of one side whose ids are equal */
	LIMIT_SESSION = 1024, /* outstanding requests of the client's in one ACP session */
	LIMIT_TASKS = 1024,   /* progress tokens of tasks; unanswered tasks/cancel */
	LIMIT_TURNS = 1024,   /* ACP v2: sessions in which answered prompts are worked on */
	/* the search for messages in a line of text reads at most so many times its length ... */
	LIMIT_SEARCHES = 16,
	LIMIT_SEARCHED = 16 << 20, /* ... and no more than this */
	LIMIT_ELEMENTS = 65536,    /* elements of one batch that are read */
	/* ended requests of one side that are remembered by their ids and tokens */
	LIMIT_FINISHED = 4096,
	LIMIT_ACKS = 1024,         /* acknowledged cancels that wait for the end of their request */
	LIMIT_ACK_BYTES = 1 << 20, /* ... and their bytes, if there are several */

	LIMIT_LOOKED = 64 << 10, /* bytes of capabilities, or of params._meta, that are looked at */
	LIMIT_CLIENT = 1 << 10,  /* bytes kept of what the client tells of itself */
	LIMIT_META = 16384,      /* bytes of params._meta that are kept for a request's cancel */
	LIMIT_TRACEPARENT = 57,  /* ... of a request's traceparent, as spelled */
	LIMIT_ANSWER = 1 << 20,  /* bytes of a result of --answer that is repeated for each item */
	LIMIT_PROGRESS = 512,    /* bytes kept of a request's latest progress */
	LIMIT_RULES_SET = 64,    /* rules that a person has added */
	LIMIT_STARS = 8,         /* '*' in a pattern ... */
	LIMIT_PATTERN = 256,     /* ... and its bytes, if it has one */
	LIMIT_METHODS = 64,      /* methods and names whose requests are counted apart */
	LIMIT_TOOLS = 1 << 20,   /* bytes of a page of a list of tools that is looked at, ... */
	LIMIT_TOOL_NAMES = 1 << 16, /* ... of the names of all ... */
	LIMIT_TOOL = 128,           /* ... and of one */
	LIMIT_ENDED = 32,           /* requests that have ended and are shown */

	LIMIT_RECORD_BYTES = 1 << 20, /* messages kept for a restarted server, in all */
	LIMIT_REOPENED = 64,          /* ACP sessions that it is told to open again */
	/* bytes of the server's output that an error quotes; in an open session half as many */
	LIMIT_LAST_WORDS = 2048,
	LIMIT_FIRST = 200, /* ... of its first text */
	/*
	 * if so many bytes of canceld's own answers are queued for the client, the next errors
	 * quote nothing
	 */
	LIMIT_QUOTED = 1 << 20,

	LIMIT_RESTARTS = 5,
	LIMIT_UNSERVED = 20, /* restarts in a row without an answer; they wait for 2 minutes */
	LIMIT_PATIENCES = 3,

	TIME_IDLE = 5 * 60 * 1000,
	TIME_IDLE_CODE = 30 * 60 * 1000,  /* of requests that run a user's code */
	TIME_START = 2 * 60 * 1000,       /* initialize, server/discover */
	TIME_START_SLOW = 10 * 60 * 1000, /* initialize of LSP and BSP */
	TIME_START_CAP = 30 * 60 * 1000,  /* in all, while the server writes messages */
	TIME_AT_ONCE = 10,                /* an answer within this is only counted */
	/* ... of LSP and BSP, where requests follow each key that is typed */
	TIME_AT_ONCE_TYPED = 1000,
	TIME_CAP = 24 * 60 * 60 * 1000,
	TIME_GRACE = 5 * 1000,        /* --grace */
	TIME_GRACE_TURN = 30 * 1000,  /* of a session/prompt */
	TIME_LINGER = 10 * 60 * 1000, /* a tombstone */
	TIME_REPLAY = 60 * 1000,      /* for a new server to answer the replay */
	/* before a server that answered nothing is started again; doubled each time ... */
	TIME_RESTART_WAIT = 100,
	TIME_RESTART_MOST = 10000,  /* ... up to this */
	TIME_HEARTBEAT = 15 * 1000, /* --heartbeat without a value */
	TIME_STUCK = 10 * 1000,     /* --kill-stuck without a value */
	/* a server that has not answered a probe by then is shown as stuck */
	TIME_PROBE = 5 * 1000,
	/*
	 * ... and one that has shown no life for so long, or for a quarter of the deadline, as
	 * silent
	 */
	TIME_SILENT = 10 * 1000,
	/* a server that still writes gets LIMIT_PATIENCES times --kill-stuck, and at least this */
	TIME_STUCK_LEAST = 60 * 1000,
	/* --restart without a value: LIMIT_RESTARTS restarts within this time */
	TIME_RESTARTS = 60 * 1000,
	/* for the client to send a first request after the server has gone */
	TIME_FIRST_REQUEST = 500,
	/* a wake that is later than planned by this much shows that the clock stood still */
	TIME_SKEW = 2 * 1000,
	TIME_EOF_WAIT = 250,    /* for the rest of stdout after the server's exit */
	TIME_FLUSH_WAIT = 200,  /* for cancels to be written before stdin is closed */
	TIME_CLOSE_WAIT = 2000, /* from then to SIGTERM; --term-after: as MCP's SDKs wait */
	TIME_PATIENCE = 1000,   /* ACP, LSP and BSP have so much more */
	/* TIME_CLOSE_WAIT if the client has told the server to end: no editor kills it then */
	TIME_EXIT_WAIT = 10000,
	TIME_TERM_WAIT = 2000, /* from then to SIGKILL; --kill-after */
	TIME_LAST_WAIT = 50,   /* like TIME_EOF_WAIT, after an end that canceld began */
	/* for the server's exit, and the process tree to be gone, after SIGKILL */
	TIME_SWEEP_WAIT = 1000,
	TIME_SEIZE_WAIT = 6000, /* ... from then on until canceld ends all the same */
	/* like TIME_FLUSH_WAIT, after a signal or if the server does not work any more */
	TIME_HASTY_FLUSH_WAIT = 100,
	TIME_HASTY_CLOSE_WAIT = 100, /* like TIME_CLOSE_WAIT */
	TIME_HASTY_TERM_WAIT = 250,  /* of a server that does not work any more */
	/* for the server to read again, after the client closed its end: its queue is full */
	TIME_HANGUP_WAIT = 250,
};
