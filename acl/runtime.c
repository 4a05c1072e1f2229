/* SPDX-License-Identifier: Apache-2.0 */
/* Start and end of the runtime, devices and contexts, errors. */
#include "acl/runtime.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEVICES_MAX = 1024 };

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

static bool read_caches(const char *word) {
  acl_runtime.data_caches = word && strcmp(word, "1") == 0;
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

/* What processes tell each other. */
struct acl_shared {
  atomic_bool told_of_child;
};

static void share(void) {
  void *page = mmap(NULL, sizeof *acl_runtime.shared, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  acl_runtime.shared = page == MAP_FAILED ? NULL : page;
  acl_runtime.process = getpid();
}

/* Whether this process is a child of the one that made the device. Once for all children it is told
 * that nobody simulates what a child asks for. */
static bool is_child(const char *call) {
  if (acl_runtime.process == 0 || acl_runtime.process == getpid())
    return false;
  if (!acl_runtime.is_child)
    acl_runtime.exit_code = 0; /* that of the parent */
  acl_runtime.is_child = true;
  if (acl_runtime.shared && !atomic_exchange(&acl_runtime.shared->told_of_child, true))
    fprintf(stderr,
            "vinci: warning: %s in a child of the process that made the device (fork): children "
            "are not simulated, their calls return error %d\n",
            call, ACL_ERROR_RT_CONTEXT_NULL);
  return true;
}

/* The report is that of the process that made the device. */
static void at_end(int status, void *unused) {
  bool own = acl_runtime.process == getpid();
  (void)unused;
  if (own)
    acl_report();
  if (!own && !acl_runtime.is_child) /* a child that asked for nothing */
    return;
  if (status == 0 && acl_runtime.exit_code != 0) {
    fflush(NULL);
    _exit(acl_runtime.exit_code);
  }
}

/* Programs have the number of their machine's device written down; here is one device. */
static bool read_device(const char *text) {
  char *end = NULL;
  unsigned long id = text ? strtoul(text, &end, 10) : 0;
  acl_runtime.device_id = (int32_t)id;
  return !text || (isdigit((unsigned char)*text) && !*end && id < DEVICES_MAX);
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
  else if (!read_caches(asked("VINCI_DCACHE")))
    (void)diag_error(&diag, VINCI_E_USAGE,
                     "VINCI_DCACHE is 0, or 1 for values by the data caches of the cores, not '%s'",
                     asked("VINCI_DCACHE"));
  else if (!read_device(asked("VINCI_DEVICE")))
    (void)diag_error(&diag, VINCI_E_USAGE,
                     "VINCI_DEVICE is the number of the device, below %d, not '%s'", DEVICES_MAX,
                     asked("VINCI_DEVICE"));
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
  share();
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

aclError acl_begin(const char *call, enum acl_need need) {
  acl_enter(true);
  if (is_child(call))
    return ACL_ERROR_RT_CONTEXT_NULL;
  if (acl_runtime.finalized)
    return acl_fail(ACL_ERROR_UNINITIALIZE, "%s after aclFinalize", call);
  if (need == ACL_NEED_CONTEXT && acl_runtime.context_is_gone)
    return acl_fail(ACL_ERROR_RT_CONTEXT_NULL,
                    "%s without a context: the device was reset, or the current context destroyed",
                    call);
  return ACL_SUCCESS;
}

/* ---- start and end ------------------------------------------------------------------------ */

ACL_API aclError aclInit(const char *configPath) {
  (void)configPath;
  acl_enter(true);
  if (is_child(__func__))
    return acl_leave(ACL_ERROR_RT_CONTEXT_NULL);
  if (acl_runtime.initialized)
    return acl_leave(acl_fail(ACL_ERROR_REPEAT_INITIALIZE, "aclInit has been called before"));
  acl_runtime.initialized = true;
  acl_runtime.finalized = false;
  return acl_leave(ACL_SUCCESS);
}

ACL_API aclError aclFinalize(void) {
  acl_enter(true);
  if (is_child(__func__))
    return acl_leave(ACL_ERROR_RT_CONTEXT_NULL);
  if (acl_runtime.finalized)
    return acl_leave(acl_fail(ACL_ERROR_REPEAT_FINALIZE, "aclFinalize has been called before"));
  if (!acl_runtime.initialized)
    return acl_leave(acl_fail(ACL_ERROR_UNINITIALIZE, "aclFinalize without aclInit"));
  acl_runtime.initialized = false;
  acl_runtime.finalized = true;
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
  return id == acl_runtime.device_id
             ? ACL_SUCCESS
             : acl_fail(
                   ACL_ERROR_RT_INVALID_DEVICEID,
                   "there is device %d, and no device %d (VINCI_DEVICE=%d gives it that number)",
                   acl_runtime.device_id, id, id);
}

ACL_API aclError aclrtSetDevice(int32_t deviceId) {
  ACL_BEGIN(ACL_NEED_INITIALIZED);
  aclError error = check_device(deviceId);
  if (error == ACL_SUCCESS) {
    acl_runtime.devices_set++;
    acl_runtime.context_is_gone = false;
    acl_runtime.context = NULL;
  }
  return acl_leave(error);
}

/* Streams and memory of the device stay for the program's own frees, which may come later. */
ACL_API aclError aclrtResetDevice(int32_t deviceId) {
  ACL_BEGIN(ACL_NEED_INITIALIZED);
  aclError error = check_device(deviceId);
  if (error == ACL_SUCCESS) {
    acl_runtime.devices_set -= acl_runtime.devices_set > 0;
    acl_runtime.context_is_gone |= acl_runtime.devices_set == 0;
  }
  return acl_leave(error);
}

ACL_API aclError aclrtGetDevice(int32_t *deviceId) {
  ACL_BEGIN(ACL_NEED_CONTEXT);
  if (!deviceId)
    return acl_leave(ACL_ERROR_INVALID_PARAM);
  *deviceId = acl_runtime.device_id;
  return acl_leave(ACL_SUCCESS);
}

ACL_API aclError aclrtGetDeviceCount(uint32_t *count) {
  ACL_BEGIN(ACL_NEED_INITIALIZED);
  if (!count)
    return acl_leave(ACL_ERROR_INVALID_PARAM);
  *count = (uint32_t)acl_runtime.device_id + 1; /* those before it are somebody else's */
  return acl_leave(ACL_SUCCESS);
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
  ACL_BEGIN(ACL_NEED_INITIALIZED);
  if (!mode)
    return acl_leave(ACL_ERROR_INVALID_PARAM);
  *mode = ACL_HOST;
  return acl_leave(ACL_SUCCESS);
}

/* A context is a name alone: all are the device. What is created becomes current. */
ACL_API aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId) {
  ACL_BEGIN(ACL_NEED_INITIALIZED);
  if (!context)
    return acl_leave(ACL_ERROR_INVALID_PARAM);
  aclError error = check_device(deviceId);
  *context = error == ACL_SUCCESS ? malloc(1) : NULL;
  if (error != ACL_SUCCESS)
    return acl_leave(error);
  if (!*context || !acl_handle_add(ACL_HANDLE_CONTEXT, *context))
    return acl_leave(ACL_ERROR_BAD_ALLOC);
  acl_runtime.context = *context;
  acl_runtime.context_is_gone = false;
  return acl_leave(ACL_SUCCESS);
}

/* The name stays in memory, so that no context has it again. */
ACL_API aclError aclrtDestroyContext(aclrtContext context) {
  ACL_BEGIN(ACL_NEED_INITIALIZED);
  if (!acl_handle_is(ACL_HANDLE_CONTEXT, context))
    return acl_leave(ACL_ERROR_RT_PARAM_INVALID);
  acl_handle_remove(ACL_HANDLE_CONTEXT, context);
  acl_runtime.context_is_gone |= acl_runtime.context == context;
  return acl_leave(ACL_SUCCESS);
}

/* &acl_runtime: the context of the device. */
ACL_API aclError aclrtSetCurrentContext(aclrtContext context) {
  ACL_BEGIN(ACL_NEED_INITIALIZED);
  if (context != &acl_runtime && !acl_handle_is(ACL_HANDLE_CONTEXT, context))
    return acl_leave(ACL_ERROR_RT_PARAM_INVALID);
  acl_runtime.context = context == &acl_runtime ? NULL : context;
  acl_runtime.context_is_gone = false;
  return acl_leave(ACL_SUCCESS);
}

ACL_API aclError aclrtGetCurrentContext(aclrtContext *context) {
  ACL_BEGIN(ACL_NEED_CONTEXT);
  if (!context)
    return acl_leave(ACL_ERROR_INVALID_PARAM);
  *context = (void *)(uintptr_t)(acl_runtime.context ? acl_runtime.context : &acl_runtime);
  return acl_leave(ACL_SUCCESS);
}
