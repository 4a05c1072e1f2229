// SPDX-License-Identifier: Apache-2.0
// AscendCL for programs on a simulated chip: what programs for one device use. Names, numbers and
// meanings are those of the public documentation of AscendCL; libvinci_acl implements them. A call
// that is missing here is an error of the compiler, with the name of the call.
#ifndef VINCI_ACL_H
#define VINCI_ACL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int aclError;
typedef void *aclrtStream;
typedef void *aclrtEvent;
typedef void *aclrtContext;
typedef uint16_t aclFloat16;

// ---- errors: ACL_ERROR_* of the caller's doing, 207xxx of resources, 507xxx of the device ----

#define VINCI_ACL_ERROR_LIST(X)                                                                    \
  X(ACL_SUCCESS, 0, "success")                                                                     \
  X(ACL_ERROR_INVALID_PARAM, 100000, "a parameter is not valid")                                   \
  X(ACL_ERROR_UNINITIALIZE, 100001, "aclInit has not been called, or aclFinalize has")             \
  X(ACL_ERROR_REPEAT_INITIALIZE, 100002, "aclInit has been called before")                         \
  X(ACL_ERROR_INVALID_FILE, 100003, "a file is not valid")                                         \
  X(ACL_ERROR_REPEAT_FINALIZE, 100037, "aclFinalize has been called before")                       \
  X(ACL_ERROR_API_NOT_SUPPORT, 200001, "the call is not supported")                                \
  X(ACL_ERROR_BAD_ALLOC, 200000, "out of host memory")                                             \
  X(ACL_ERROR_RT_PARAM_INVALID, 107000, "a parameter is not valid")                                \
  X(ACL_ERROR_RT_INVALID_DEVICEID, 107001, "there is no such device")                              \
  X(ACL_ERROR_RT_CONTEXT_NULL, 107002, "no device is set")                                         \
  X(ACL_ERROR_RT_STREAM_CONTEXT, 107003, "the stream is of another context, or is destroyed")      \
  X(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, 207000, "the call is not supported")                         \
  X(ACL_ERROR_RT_MEMORY_ALLOCATION, 207001, "out of device memory")                                \
  X(ACL_ERROR_RT_MEMORY_FREE, 207002, "no memory was given out at this address")                   \
  X(ACL_ERROR_RT_INTERNAL_ERROR, 507000, "the simulator failed")                                   \
  X(ACL_ERROR_RT_AICORE_TIMEOUT, 507014, "a kernel hangs")                                         \
  X(ACL_ERROR_RT_AICORE_EXCEPTION, 507015, "a kernel failed")
enum vinci_acl_error {
#define X(name, number, text) name = number,
  VINCI_ACL_ERROR_LIST(X)
#undef X
};

#define ACL_ERROR_NONE ACL_SUCCESS

// ---- numbers of parameters ----

typedef enum aclrtMemcpyKind {
  ACL_MEMCPY_HOST_TO_HOST,
  ACL_MEMCPY_HOST_TO_DEVICE,
  ACL_MEMCPY_DEVICE_TO_HOST,
  ACL_MEMCPY_DEVICE_TO_DEVICE,
  ACL_MEMCPY_DEFAULT
} aclrtMemcpyKind;

typedef enum aclrtMemMallocPolicy {
  ACL_MEM_MALLOC_HUGE_FIRST,
  ACL_MEM_MALLOC_HUGE_ONLY,
  ACL_MEM_MALLOC_NORMAL_ONLY,
  ACL_MEM_MALLOC_HUGE_FIRST_P2P,
  ACL_MEM_MALLOC_HUGE_ONLY_P2P,
  ACL_MEM_MALLOC_NORMAL_ONLY_P2P
} aclrtMemMallocPolicy;

typedef enum aclrtMemAttr {
  ACL_DDR_MEM,
  ACL_HBM_MEM,
  ACL_DDR_MEM_HUGE,
  ACL_DDR_MEM_NORMAL,
  ACL_HBM_MEM_HUGE,
  ACL_HBM_MEM_NORMAL
} aclrtMemAttr;

typedef enum aclrtRunMode { ACL_DEVICE, ACL_HOST } aclrtRunMode;
typedef enum aclrtEventStatus {
  ACL_EVENT_STATUS_COMPLETE,
  ACL_EVENT_STATUS_NOT_READY
} aclrtEventStatus;
typedef enum aclrtEventRecordedStatus {
  ACL_EVENT_RECORDED_STATUS_NOT_READY,
  ACL_EVENT_RECORDED_STATUS_COMPLETE
} aclrtEventRecordedStatus;
typedef enum aclrtStreamStatus {
  ACL_STREAM_STATUS_COMPLETE,
  ACL_STREAM_STATUS_NOT_READY
} aclrtStreamStatus;

#define ACL_EVENT_SYNC 0x00000001u
#define ACL_EVENT_CAPTURE_STREAM_PROGRESS 0x00000002u
#define ACL_EVENT_TIME_LINE 0x00000008u
#define ACL_STREAM_FAST_LAUNCH 0x00000001u
#define ACL_STREAM_FAST_SYNC 0x00000002u

typedef enum aclDataType {
  ACL_DT_UNDEFINED = -1,
  ACL_FLOAT = 0,
  ACL_FLOAT16 = 1,
  ACL_INT8 = 2,
  ACL_INT32 = 3,
  ACL_UINT8 = 4,
  ACL_INT16 = 6,
  ACL_UINT16 = 7,
  ACL_UINT32 = 8,
  ACL_INT64 = 9,
  ACL_UINT64 = 10,
  ACL_DOUBLE = 11,
  ACL_BOOL = 12,
  ACL_BF16 = 27,
  ACL_INT4 = 29
} aclDataType;

typedef enum aclFormat {
  ACL_FORMAT_UNDEFINED = -1,
  ACL_FORMAT_NCHW = 0,
  ACL_FORMAT_NHWC = 1,
  ACL_FORMAT_ND = 2,
  ACL_FORMAT_NC1HWC0 = 3,
  ACL_FORMAT_FRACTAL_Z = 4,
  ACL_FORMAT_FRACTAL_NZ = 29
} aclFormat;

// ---- start and end ----

// configPath is not read.
aclError aclInit(const char *configPath);
aclError aclFinalize(void);
// The last message of this process, and an empty text after the call; never NULL.
const char *aclGetRecentErrMsg(void);
// The last error of a call of this thread; ACL_SUCCESS when there was none. Get forgets the error,
// Peek does not.
typedef enum aclrtLastErrLevel { ACL_RT_THREAD_LEVEL } aclrtLastErrLevel;
aclError aclrtGetLastError(aclrtLastErrLevel level);
aclError aclrtPeekAtLastError(aclrtLastErrLevel level);
aclError aclrtGetVersion(int32_t *major, int32_t *minor, int32_t *patch);

// ---- device and context: there is device 0 ----

aclError aclrtSetDevice(int32_t deviceId);
aclError aclrtResetDevice(int32_t deviceId);
aclError aclrtGetDevice(int32_t *deviceId);
aclError aclrtGetDeviceCount(uint32_t *count);
aclError aclrtSynchronizeDevice(void);
const char *aclrtGetSocName(void);
aclError aclrtGetRunMode(aclrtRunMode *mode);
aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId);
aclError aclrtDestroyContext(aclrtContext context);
aclError aclrtSetCurrentContext(aclrtContext context);
aclError aclrtGetCurrentContext(aclrtContext *context);

// ---- streams and events ----

aclError aclrtCreateStream(aclrtStream *stream);
aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag);
aclError aclrtDestroyStream(aclrtStream stream);
aclError aclrtDestroyStreamForce(aclrtStream stream);
aclError aclrtSynchronizeStream(aclrtStream stream);
aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);
aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status);
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);
aclError aclrtCreateEvent(aclrtEvent *event);
aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag);
aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag);
aclError aclrtDestroyEvent(aclrtEvent event);
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);
aclError aclrtSynchronizeEvent(aclrtEvent event);
aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status);
aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status);
// Milliseconds of simulated time.
aclError aclrtEventElapsedTime(float *milliseconds, aclrtEvent start, aclrtEvent end);

// ---- memory ----

aclError aclrtMalloc(void **address, size_t size, aclrtMemMallocPolicy policy);
aclError aclrtMallocAlign32(void **address, size_t size, aclrtMemMallocPolicy policy);
aclError aclrtMallocCached(void **address, size_t size, aclrtMemMallocPolicy policy);
aclError aclrtFree(void *address);
aclError aclrtMallocHost(void **address, size_t size);
aclError aclrtFreeHost(void *address);
aclError aclrtMemset(void *address, size_t maxCount, int32_t value, size_t count);
aclError aclrtMemsetAsync(void *address, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream);
aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count,
                     aclrtMemcpyKind kind);
aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream);
aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind kind);
aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free, size_t *total);

// ---- graphs: what streams are asked for while they are captured, to be executed later, as often
// as wanted ----

typedef void *aclmdlRI;
typedef enum aclmdlRICaptureMode {
  ACL_MODEL_RI_CAPTURE_MODE_GLOBAL,
  ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL,
  ACL_MODEL_RI_CAPTURE_MODE_RELAXED
} aclmdlRICaptureMode;
// Launches, copies, fills, records and waits of this stream, and of streams that wait for its
// events.
aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);
aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *modelRI);
aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream);
aclError aclmdlRIDestroy(aclmdlRI modelRI);
// A list of the tasks as JSON. flags: 0.
aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char *path, uint32_t flags);

// ---- kernels that were compiled at run time (acl/acl_rt_compile.h) ----

typedef void *aclrtBinHandle;
typedef void *aclrtFuncHandle;
typedef enum aclrtBinaryLoadOptionType {
  ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD = 1,
  ACL_RT_BINARY_LOAD_OPT_MAGIC = 2
} aclrtBinaryLoadOptionType;
#define ACL_RT_BINARY_MAGIC_ELF_AICORE 0x43554245u
#define ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE 0x41415246u
#define ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE 0x41494343u
typedef union aclrtBinaryLoadOptionValue {
  uint32_t isLazyLoad;
  uint32_t magic;
  uint32_t rsv[4];
} aclrtBinaryLoadOptionValue;
typedef struct aclrtBinaryLoadOption {
  aclrtBinaryLoadOptionType type;
  aclrtBinaryLoadOptionValue value;
} aclrtBinaryLoadOption;
typedef struct aclrtBinaryLoadOptions {
  aclrtBinaryLoadOption *options;
  size_t numOpt;
} aclrtBinaryLoadOptions;
typedef struct aclrtLaunchKernelCfg aclrtLaunchKernelCfg;

// The options have no effect: a file knows which cores it is for.
aclError aclrtBinaryLoadFromData(const void *data, size_t length,
                                 const aclrtBinaryLoadOptions *options, aclrtBinHandle *binHandle);
aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle);
aclError aclrtBinaryGetFunction(aclrtBinHandle binHandle, const char *kernelName,
                                aclrtFuncHandle *funcHandle);
// args: the address of each argument. cfg has no effect.
aclError aclrtLaunchKernelWithArgsArray(aclrtFuncHandle funcHandle, uint32_t numBlocks,
                                        aclrtStream stream, aclrtLaunchKernelCfg *cfg, void **args);

// ---- numbers ----

aclFloat16 aclFloatToFloat16(float value);
float aclFloat16ToFloat(aclFloat16 value);
size_t aclDataTypeSize(aclDataType type);

#ifdef __cplusplus
}
#endif

#endif
