#include "core/frame.h"

void
frame_init(struct frame *frame)
{
	frame->scan = scan_new(SCAN_END_NEWLINE);
	frame->start = 0;
	frame->scanned = 0;
	scan_start(frame->scan);
}

void
frame_free(struct frame *frame)
{
	scan_free(frame->scan);
}

bool
frame_feed(struct frame *frame, struct span bytes)
{
	frame->scanned += scan_feed(frame->scan, bytes.ptr, bytes.len);
	return scan_ended(frame->scan);
}

void
frame_next(struct frame *frame)
{
	frame->start = frame->scanned;
	scan_start(frame->scan);
}
