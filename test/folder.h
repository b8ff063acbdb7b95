/* Folders of tests, without the processes of a shell. */
#pragma once

/* Also if it is not empty. */
int folder_remove(const char *path);

/* A file, with the folders above it. */
int folder_put(const char *path, const char *text);
