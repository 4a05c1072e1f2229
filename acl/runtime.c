/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of the runtime, devices and contexts, errors. */
#include "acl/runtime.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct acl_runtime acl_runtime = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Of the last call of this thread that failed. */
static _Thread_local aclError last_error;

/* ---- errors ------------------------------------------------------------------------------- */

aclError acl_fail(aclError error, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(acl_runtime.message, sizeof acl_runtime.message, format, arguments);
  va_end(arguments);
  fprintf(stderr, "vinci: error %d: %s\n", error, acl_runtime.message);
  return error;
}

ACL_API const char *aclGetRecentErrMsg(void) {
  static char text[sizeof acl_runtime.message];
  acl_enter(false);
  memcpy(text, acl_runtime.message, sizeof text);
  acl_runtime.message[0] = '\0';
  (void)acl_leave(ACL_SUCCESS);
  return text;
}

ACL_API aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  return level == ACL_RT_THREAD_LEVEL ? last_error : ACL_ERROR_RT_PARAM_INVALID;
}

ACL_API aclError aclrtGetLastError(aclrtLastErrLevel level) {
  aclError error = aclrtPeekAtLastError(level);
  last_error = ACL_SUCCESS;
  return error;
}

/* ---- what the environment asks for ---------------------------------------------------------- */

static const char *asked(const char *name) {
  const char *value = getenv(name);
  return value && *value ? value : NULL;
}

/* "l2.size=96MiB hbm.bandwidth=2TB": overrides with blanks between. */
static enum vinci_status set_numbers(vinci_soc *soc, const char *list, struct vinci_diag *diag) {
  char one[256];
  enum vinci_status status = VINCI_OK;
  for (const char *at = list; at && *at && status == VINCI_OK;) {
    size_t length = strcspn(at, " ");
    snprintf(one, sizeof one, "%.*s", (int)length, at);
    if (length > 0)
      status = vinci_soc_set(soc, one, diag);
    at += length + strspn(at + length, " ");
  }
  return status;
}

static bool read_values(const char *word) {
  acl_runtime.time_only = word && strcmp(word, "0") == 0;
  return !word || strcmp(word, "0") == 0 || strcmp(word, "1") == 0;
}

static bool read_memory(const char *word) {
  acl_runtime.timed = !word || strcmp(word, "none") != 0;
  acl_runtime.memory = word && strcmp(word, "flat") == 0 ? VINCI_MEMORY_FLAT : VINCI_MEMORY_CYCLE;
  return !word || strcmp(word, "none") == 0 || strcmp(word, "flat") == 0 ||
         strcmp(word, "cycle") == 0;
}

/* "all", or names of checks with commas between. */
static bool read_checks(const char *list) {
  static const struct {
    const char *name;
    unsigned bits;
  } checks[] = {
#define X(id, bit, name, text) {name, bit},
      VINCI_CHECK_LIST(X)
#undef X
          {"all", VINCI_CHECK_ALL}};
  for (const char *at = list; at && *at;) {
    size_t length = strcspn(at, ","), i = 0, count = sizeof checks / sizeof *checks;
    while (i < count && (strlen(checks[i].name) != length || strncmp(checks[i].name, at, length)))
      i++;
    if (i == count)
      return false;
    acl_runtime.checks |= checks[i].bits;
    at += length + (at[length] == ',');
  }
  return true;
}

static _Noreturn void refuse(struct vinci_diag *diag) {
  vinci_diag_print(diag, stderr);
  _exit(vinci_status_exit_code(diag->status));
}

static void at_end(int status, void *unused) {
  (void)unused;
  acl_report();
  if (status == 0 && acl_runtime.exit_code != 0) {
    fflush(NULL);
    _exit(acl_runtime.exit_code);
  }
}

/* Loads the chip. What the environment asks for wrongly ends the process. */
static void load(void) {
  struct vinci_diag diag = {0};
  const char *name = asked("VINCI_SOC");
  if (!read_memory(asked("VINCI_MEMORY")))
    (void)diag_error(&diag, VINCI_E_USAGE,
                     "VINCI_MEMORY is cycle, flat or none (no time), not '%s'",
                     asked("VINCI_MEMORY"));
  else if (!read_values(asked("VINCI_VALUES")))
    (void)diag_error(&diag, VINCI_E_USAGE,
                     "VINCI_VALUES is 1, or 0 for the time without values, not '%s'",
                     asked("VINCI_VALUES"));
  else if (acl_runtime.time_only && !acl_runtime.timed)
    (void)diag_error(
        &diag, VINCI_E_USAGE,
        "VINCI_VALUES=0 leaves values out, VINCI_MEMORY=none the time: nothing is left");
  else if (!read_checks(asked("VINCI_CHECK")))
    (void)diag_error(&diag, VINCI_E_USAGE,
                     "VINCI_CHECK is all, or some of memcheck,racecheck,initcheck,synccheck, not "
                     "'%s'",
                     asked("VINCI_CHECK"));
  else if (vinci_soc_load(name ? name : "Ascend910B4", NULL, &acl_runtime.soc, &diag) == VINCI_OK &&
           set_numbers(acl_runtime.soc, asked("VINCI_SET"), &diag) == VINCI_OK &&
           vinci_device_create(acl_runtime.soc, acl_runtime.memory, &acl_runtime.device, &diag) ==
               VINCI_OK)
    diag.status = VINCI_OK;
  if (diag.status != VINCI_OK)
    refuse(&diag);
  acl_runtime.output = asked("VINCI_OUTPUT");
  if (acl_runtime.output)
    (void)mkdir(acl_runtime.output, 0777); /* who writes there tells what is wrong */
  acl_runtime.silent = asked("VINCI_REPORT") && strcmp(asked("VINCI_REPORT"), "0") == 0;
  (void)on_exit(at_end, NULL);
}

void acl_enter(bool need_device) {
  pthread_mutex_lock(&acl_runtime.lock);
  if (need_device && !acl_runtime.device)
    load();
}

aclError acl_leave(aclError error) {
  if (error != ACL_SUCCESS)
    last_error = error;
  pthread_mutex_unlock(&acl_runtime.lock);
  return error;
}

/* ---- start and end ------------------------------------------------------------------------ */

ACL_API aclError aclInit(const char *configPath) {
  (void)configPath;
  acl_enter(true);
  if (acl_runtime.initialized)
    return acl_leave(acl_fail(ACL_ERROR_REPEAT_INITIALIZE, "aclInit has been called before"));
  acl_runtime.initialized = true;
  return acl_leave(ACL_SUCCESS);
}

ACL_API aclError aclFinalize(void) {
  acl_enter(true);
  if (!acl_runtime.initialized)
    return acl_leave(acl_fail(ACL_ERROR_UNINITIALIZE, "aclFinalize without aclInit"));
  acl_runtime.initialized = false;
  return acl_leave(ACL_SUCCESS);
}

ACL_API aclError aclrtGetVersion(int32_t *major, int32_t *minor, int32_t *patch) {
  if (!major || !minor || !patch)
    return ACL_ERROR_INVALID_PARAM;
  *major = 1;
  *minor = *patch = 0;
  return ACL_SUCCESS;
}

/* ---- devices and contexts ----------------------------------------------------------------- */

static aclError check_device(int32_t id) {
  return id == 0
             ? ACL_SUCCESS
             : acl_fail(ACL_ERROR_RT_INVALID_DEVICEID, "there is device 0, and no device %d", id);
}

ACL_API aclError aclrtSetDevice(int32_t deviceId) {
  acl_enter(true);
  return acl_leave(check_device(deviceId));
}

/* Streams and memory of the device stay for the program's own frees, which may come later. */
ACL_API aclError aclrtResetDevice(int32_t deviceId) {
  acl_enter(true);
  return acl_leave(check_device(deviceId));
}

ACL_API aclError aclrtGetDevice(int32_t *deviceId) {
  if (!deviceId)
    return ACL_ERROR_INVALID_PARAM;
  *deviceId = 0;
  return ACL_SUCCESS;
}

ACL_API aclError aclrtGetDeviceCount(uint32_t *count) {
  if (!count)
    return ACL_ERROR_INVALID_PARAM;
  *count = 1;
  return ACL_SUCCESS;
}

ACL_API const char *aclrtGetSocName(void) {
  acl_enter(true);
  const char *name = vinci_soc_name(acl_runtime.soc);
  (void)acl_leave(ACL_SUCCESS);
  return name;
}

/* For include/vinci/cce/library/platform.cpp. */
ACL_API int64_t vinci_acl_number(const char *name);

int64_t vinci_acl_number(const char *name) {
  acl_enter(true);
  size_t index = soc_param_find(name);
  int64_t number = index < soc_param_count() ? soc_get(acl_runtime.soc, index) : -1;
  (void)acl_leave(ACL_SUCCESS);
  return number;
}

ACL_API aclError aclrtGetRunMode(aclrtRunMode *mode) {
  if (!mode)
    return ACL_ERROR_INVALID_PARAM;
  *mode = ACL_HOST;
  return ACL_SUCCESS;
}

/* One context, whatever is created: each is the device. */
ACL_API aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId) {
  acl_enter(true);
  if (!context)
    return acl_leave(ACL_ERROR_INVALID_PARAM);
  aclError error = check_device(deviceId);
  *context = error == ACL_SUCCESS ? &acl_runtime : NULL;
  return acl_leave(error);
}

static aclError check_context(aclrtContext context) {
  return context == &acl_runtime
             ? ACL_SUCCESS
             : acl_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is no context", context);
}

ACL_API aclError aclrtDestroyContext(aclrtContext context) {
  acl_enter(true);
  return acl_leave(check_context(context));
}

ACL_API aclError aclrtSetCurrentContext(aclrtContext context) {
  acl_enter(true);
  return acl_leave(check_context(context));
}

ACL_API aclError aclrtGetCurrentContext(aclrtContext *context) {
  if (!context)
    return ACL_ERROR_INVALID_PARAM;
  *context = &acl_runtime;
  return ACL_SUCCESS;
}
