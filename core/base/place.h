/* SPDX-License-Identifier: Apache-2.0 */
/* Where this code lies: in a build folder, or installed. */
#ifndef VINCI_CORE_BASE_PLACE_H
#define VINCI_CORE_BASE_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/* The file with which configure tells a build folder where the sources have their data. */
#define PLACE_MARKER "vinci-data.path"

/*
 * The build folder that this code was loaded from. False for what is installed, and with errno
 * ENOMEM when there is no memory to look. An installed file cannot carry that path, which is why
 * the folder is known from where the file lies.
 */
bool place_build_folder(char *buffer, size_t size);

#endif
