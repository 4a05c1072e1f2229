/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of reading and writing traces: what rows become, and that text survives the way back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/base/digest.h"
#include "core/isa/program.h"
#include "tests/support/fixture.h"

#define HEAD "trace,version=1\nkernel,name=k,arch=dav-c220,blocks=4\n"
#define AIV "stream,core=AIV\n"
#define AIC "stream,core=AIC\n"

static vinci_trace *parse_bytes(const char *text, size_t length) {
  struct vinci_diag diag = {0};
  vinci_trace *trace;
  if (vinci_trace_parse("test.csv", text, length, fixture_shared, &trace, &diag) != VINCI_OK) {
    vinci_diag_print(&diag, stderr);
    fail_msg("%s", diag.text);
  }
  return trace;
}

static vinci_trace *parse(const char *text) { return parse_bytes(text, strlen(text)); }

/* The canonical text of a trace; the caller frees the text. */
static char *text_of(const vinci_trace *trace) {
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  assert_int_equal(vinci_trace_write(trace, out, NULL), VINCI_OK);
  fclose(out);
  return text;
}

/* ---- equality of programs ---- */

static void assert_same_text(const char *a, const char *b) {
  assert_int_equal(a == NULL, b == NULL);
  if (a)
    assert_string_equal(a, b);
}

static void assert_same_expr(const vinci_trace *a, int64_t ia, const vinci_trace *b, int64_t ib) {
  const struct program_expr *ea = &a->exprs[ia], *eb = &b->exprs[ib];
  assert_int_equal(ea->constant, eb->constant);
  assert_int_equal(ea->term_count, eb->term_count);
  assert_int_equal(ea->code_count, eb->code_count);
  for (uint32_t i = 0; i < ea->term_count; i++) {
    const struct program_term *ta = &a->terms[ea->first_term + i];
    const struct program_term *tb = &b->terms[eb->first_term + i];
    assert_int_equal(ta->coefficient, tb->coefficient);
    assert_int_equal(ta->variable, tb->variable);
  }
  for (uint32_t i = 0; i < ea->code_count; i++) {
    const struct program_code *ca = &a->codes[ea->first_code + i];
    const struct program_code *cb = &b->codes[eb->first_code + i];
    assert_int_equal(ca->op, cb->op);
    assert_int_equal(ca->value, cb->value);
  }
}

static void assert_same_rows(const vinci_trace *a, const vinci_trace *b) {
  assert_int_equal(a->row_count, b->row_count);
  for (uint64_t i = 0; i < a->row_count; i++) {
    const struct program_row *ra = &a->rows[i], *rb = &b->rows[i];
    assert_int_equal(ra->kind, rb->kind);
    assert_int_equal(ra->op, rb->op);
    assert_int_equal(ra->partner, rb->partner);
    assert_int_equal(ra->arg_count, rb->arg_count);
    assert_int_equal(ra->expr_mask, rb->expr_mask);
    for (unsigned j = 0; j < ra->arg_count; j++) {
      int64_t va = a->operands[ra->first_operand + j], vb = b->operands[rb->first_operand + j];
      if (ra->expr_mask >> j & 1)
        assert_same_expr(a, va, b, vb);
      else
        assert_int_equal(va, vb);
    }
  }
}

static void assert_same_objects(const vinci_trace *a, const vinci_trace *b) {
  assert_int_equal(a->tensor_count, b->tensor_count);
  assert_int_equal(a->buffer_count, b->buffer_count);
  assert_int_equal(a->gm_bytes, b->gm_bytes);
  for (uint32_t i = 0; i < a->tensor_count; i++) {
    const struct program_tensor *ta = &a->tensors[i], *tb = &b->tensors[i];
    assert_string_equal(ta->name, tb->name);
    assert_same_text(ta->file, tb->file);
    assert_string_equal(ta->format, tb->format);
    assert_int_equal(ta->dtype, tb->dtype);
    assert_int_equal(ta->io, tb->io);
    assert_int_equal(ta->rank, tb->rank);
    assert_memory_equal(ta->shape, tb->shape, sizeof ta->shape);
    assert_int_equal(ta->address, tb->address);
    assert_int_equal(ta->bytes, tb->bytes);
    assert_int_equal(ta->passes_l2, tb->passes_l2);
  }
  for (uint32_t i = 0; i < a->buffer_count; i++) {
    const struct program_buffer *ba = &a->buffers[i], *bb = &b->buffers[i];
    assert_string_equal(ba->name, bb->name);
    assert_int_equal(ba->space, bb->space);
    assert_int_equal(ba->address, bb->address);
    assert_int_equal(ba->bytes, bb->bytes);
  }
}

static void assert_same_streams(const struct program_kernel *a, const struct program_kernel *b) {
  for (unsigned kind = 0; kind < CORE_KIND_COUNT; kind++) {
    const struct program_stream *sa = &a->stream[kind], *sb = &b->stream[kind];
    assert_int_equal(sa->present, sb->present);
    assert_int_equal(sa->first_row, sb->first_row);
    assert_int_equal(sa->row_count, sb->row_count);
    assert_int_equal(sa->var_count, sb->var_count);
    for (uint32_t i = 0; i < sa->var_count; i++)
      assert_string_equal(sa->var_names[i], sb->var_names[i]);
  }
}

static void assert_same_trace(const vinci_trace *a, const vinci_trace *b) {
  assert_int_equal(a->kernel_count, b->kernel_count);
  for (uint32_t i = 0; i < a->kernel_count; i++) {
    const struct program_kernel *ka = &a->kernels[i], *kb = &b->kernels[i];
    assert_string_equal(ka->name, kb->name);
    assert_int_equal(ka->arch, kb->arch);
    assert_int_equal(ka->blocks, kb->blocks);
    assert_int_equal(ka->mixed, kb->mixed);
    assert_int_equal(ka->vectors_per_cube, kb->vectors_per_cube);
    assert_int_equal(ka->first_tensor, kb->first_tensor);
    assert_int_equal(ka->tensor_count, kb->tensor_count);
    assert_int_equal(ka->first_buffer, kb->first_buffer);
    assert_int_equal(ka->buffer_count, kb->buffer_count);
    assert_same_streams(ka, kb);
  }
  assert_same_objects(a, b);
  assert_same_rows(a, b);
}

/* Writing and reading gives the same program, and writing that the same text. */
static void assert_round_trip(const char *text, size_t length) {
  vinci_trace *first = parse_bytes(text, length);
  char *once = text_of(first);
  vinci_trace *second = parse(once);
  char *twice = text_of(second);
  assert_string_equal(once, twice);
  assert_same_trace(first, second);
  vinci_trace_free(first);
  vinci_trace_free(second);
  free(once);
  free(twice);
}

/* ---- what rows become ---- */

static void canonical_text(void **state) {
  (void)state;
  vinci_trace *trace = parse(
      "# a comment\r\n"
      "  trace , version=1 \r\n"
      "kernel,blocks=4,arch=dav-c220,\"name=add, \"\"twice\"\"\"\n"
      "\t\n"
      "buffer,name=u,size=64,space=UB,address=32+32\n"
      "tensor,name=x,io=in,shape=2x16,dtype=fp16,tail=32,cache=disable,format=NZ,file=a b.npy\n"
      "stream,core=AIV\n"
      "  loop,i,2*8\n"
      "    let,t,(blk*4-i)*8+x\n"
      "    vadd,type=fp16,src1=u,src0=u+i%2*64,dst=u,dst_repeat=8,repeat=1\n"
      "    set_flag,src=MTE2,dst=V,id=1\n"
      "  endloop");
  char *text = text_of(trace);
  assert_string_equal(text, "trace,version=1\n"
                            "kernel,\"name=add, \"\"twice\"\"\",arch=dav-c220,blocks=4\n"
                            "tensor,name=x,dtype=fp16,shape=2x16,io=in,file=a b.npy,format=NZ,"
                            "cache=disable,tail=32\n"
                            "buffer,name=u,space=UB,address=64,size=64\n"
                            "stream,core=AIV\n"
                            "loop,i,16\n"
                            "let,t,32*blk-8*i+4096\n"
                            "vadd,dst=64,src0=64+i%2*64,src1=64,repeat=1,type=fp16\n"
                            "set_flag,src=MTE2,dst=V,id=1\n"
                            "endloop\n");
  free(text);
  vinci_trace_free(trace);
}

static void rows_of_a_loop_nest(void **state) {
  (void)state;
  vinci_trace *trace = parse(HEAD AIV "loop,i,4\n"
                                      "loop,j,i+1\n"
                                      "scalar\n"
                                      "endloop\n"
                                      "loop,k,0\n"
                                      "let,j,7\n"
                                      "endloop\n"
                                      "endloop\n"
                                      "loop,i,blk\n"
                                      "endloop\n");
  const struct program_stream *stream = &trace->kernels[0].stream[CORE_AIV];
  assert_int_equal(stream->row_count, 10);
  assert_int_equal(trace->rows[0].kind, ROW_LOOP);
  assert_int_equal(trace->rows[0].partner, 7);
  assert_int_equal(trace->rows[7].partner, 0);
  assert_int_equal(trace->rows[1].partner, 3);
  assert_int_equal(trace->rows[1].expr_mask, 1);
  assert_int_equal(trace->operands[trace->rows[0].first_operand], 4);
  assert_int_equal(trace->rows[2].kind, ROW_INST);
  assert_int_equal(trace->rows[2].op, OP_SCALAR);
  assert_int_equal(trace->operands[trace->rows[2].first_operand], 1); /* the default */
  assert_int_equal(trace->rows[2].line, 6);
  /* a name has one variable in a stream, however often it comes into scope */
  assert_int_equal(stream->var_count, VAR_FIRST_FREE + 3);
  assert_int_equal(trace->rows[5].op, trace->rows[1].op);
  assert_int_equal(trace->rows[8].op, trace->rows[0].op);
  assert_string_equal(stream->var_names[trace->rows[4].op], "k");
  assert_string_equal(stream->var_names[VAR_SUB], "sub");
  vinci_trace_free(trace);
}

static void tensors_are_shared_between_kernels(void **state) {
  (void)state;
  vinci_trace *trace =
      parse("trace,version=1\n"
            "kernel,name=a,arch=dav-c220,blocks=1\n"
            "tensor,name=x,dtype=fp16,shape=100,io=in\n"
            "tensor,name=y,dtype=fp32,shape=3x5,io=out\n" AIV "let,address,y\nscalar\n"
            "kernel,name=b,arch=dav-c220,blocks=2\n"
            "tensor,name=z,dtype=int4,shape=3,io=workspace\n"
            "tensor,name=y,dtype=fp32,shape=3x5,io=in\n" AIV "let,address,y\nlet,x,1\n");
  assert_int_equal(trace->tensor_count, 4);
  assert_int_equal(trace->tensors[0].address, PROGRAM_GM_BASE);
  assert_int_equal(trace->tensors[0].bytes, 200);
  assert_int_equal(trace->tensors[1].address, PROGRAM_GM_BASE + 512);
  assert_int_equal(trace->tensors[1].bytes, 60);
  assert_int_equal(trace->tensors[2].address, PROGRAM_GM_BASE + 1024);
  assert_int_equal(trace->tensors[2].bytes, 2);
  assert_int_equal(trace->tensors[3].address, PROGRAM_GM_BASE + 512);
  assert_int_equal(trace->tensors[3].io, TENSOR_IN);
  assert_int_equal(trace->kernels[1].first_tensor, 2);
  assert_int_equal(trace->kernels[1].tensor_count, 2);
  assert_int_equal(trace->gm_bytes, PROGRAM_GM_BASE + 1026);
  assert_int_equal(trace->operands[trace->rows[0].first_operand], PROGRAM_GM_BASE + 512);
  assert_int_equal(trace->operands[trace->rows[2].first_operand], PROGRAM_GM_BASE + 512);
  vinci_trace_free(trace);
}

static void mixed_kernels(void **state) {
  (void)state;
  vinci_trace *trace =
      parse("trace,version=1\n"
            "kernel,name=a,arch=dav-c220,blocks=1,vectors_per_cube=1\n" AIV
            "ffts_cross_core_sync,pipe=MTE3,mode=2,id=0\n" AIC "wait_flag_dev,id=0\n"
            "kernel,name=b,arch=dav-c220,blocks=1\n" AIC AIV "scalar\n"
            "kernel,name=c,arch=dav-c220,blocks=1\n" AIV "scalar\n");
  assert_true(trace->kernels[0].mixed);
  assert_int_equal(trace->kernels[0].vectors_per_cube, 1);
  assert_int_equal(trace->kernels[0].stream[CORE_AIV].first_row, 0);
  assert_int_equal(trace->kernels[0].stream[CORE_AIC].first_row, 1);
  assert_true(trace->kernels[1].mixed);
  assert_int_equal(trace->kernels[1].vectors_per_cube, 2);
  assert_int_equal(trace->kernels[1].stream[CORE_AIC].row_count, 0);
  assert_false(trace->kernels[2].mixed);
  char *text = text_of(trace);
  assert_round_trip(text, strlen(text));
  free(text);
  vinci_trace_free(trace);
}

static void equal_operands_are_kept_once(void **state) {
  (void)state;
  vinci_trace *trace = parse(HEAD AIV "set_flag,src=MTE2,dst=V,id=0\n"
                                      "set_flag,src=MTE2,dst=V,id=1\n"
                                      "set_flag,dst=V,src=MTE2,id=0\n"
                                      "wait_flag,src=MTE2,dst=V,id=0\n");
  const struct program_row *rows = trace->rows;
  assert_int_equal(rows[0].first_operand, rows[2].first_operand);
  assert_int_not_equal(rows[0].first_operand, rows[1].first_operand);
  assert_int_equal(trace->operands[rows[1].first_operand + 2], 1);
  assert_int_equal(trace->operands[rows[3].first_operand + 2], 0);
  vinci_trace_free(trace);
}

static void byte_order_mark_and_line_ends(void **state) {
  (void)state;
  const char *plain = "trace,version=1\nkernel,name=k,arch=dav-c220,blocks=4\n" AIV "scalar\n";
  const char *marked = "\xef\xbb\xbftrace,version=1\r\nkernel,name=k,arch=dav-c220,blocks=4\r\n"
                       "\"stream\",\"core=AIV\"\r\nscalar";
  vinci_trace *a = parse(plain), *b = parse(marked);
  assert_same_trace(a, b);
  assert_true(a->digest != b->digest);
  vinci_trace_free(a);
  vinci_trace_free(b);
}

static void round_trips(void **state) {
  (void)state;
  static const char *const texts[] = {
      HEAD AIC "load_cbuf_to_ca,dst=0,src=0,repeat=4\nmad,c=0,a=0,b=0,m=16,k=16,n=16,type=fp16\n",
      HEAD AIC "copy_matrix_cc_to_gm,dst=4096,src=0,n=16,m=16,dst_stride=16,src_stride=16,"
               "quant=f322f16,relu=1,type=fp32\npipe_barrier,pipe=ALL\n",
      HEAD AIV "loop,i,-1\nset_flag,src=V,dst=V,\"id=min(i,7)\"\nendloop\n",
      HEAD AIV "set_vector_mask,high=-1,low=0xffffffffffffffff\n",
      HEAD AIV "loop,i,3\nloop,j,3\nlet,a,-i*(-j)--5\nlet,b,-(i%2)*(-(j-3))\nlet,c,i-(j-(i/2-1))\n"
               "let,d,(i<j)==(j>=2)\nlet,e,\"min(i,max(j,3*(i!=j)))\"\nlet,f,i/(j/2)*(3-7)\n"
               "let,g,--(i*j)\nlet,h,i/2/2%3\nlet,l,i/(2/(j+2))\nlet,m,0x8000000000000000*i\n"
               "let,n,(i-i)*(i/j)\nlet,o,i*0x8000000000000000-j-1+0x8000000000000000\n"
               "let,p,9223372036854775807*i*2+i\nlet,q,i%2--9223372036854775808\n"
               "endloop\nendloop\nscalar\n",
      HEAD AIV "let,n,0\nread,t,blk*3,taken\nread,w,64,\"min(t,7)*4\"\nread,v,64,32\n"
               "loop,i,3\nset,n,n+t*w\nendloop\nexpect,n,9*64\nscalar\n",
      "trace,version=1\nkernel,\"name=a \",arch=dav-c220,blocks=1\n"
      "tensor,name=x,dtype=bf16,shape=1,io=inout,\"file=a,\"\"b\"\".npy\"\n" AIV "scalar\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    assert_round_trip(texts[i], strlen(texts[i]));
}

/* ---- files ---- */

static char *read_all(const char *relative, size_t *length) {
  const char *top = getenv("TESTS_SRCDIR");
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", top ? top : ".", relative);
  FILE *file = fopen(path, "rb");
  if (!file)
    fail_msg("cannot open %s", path);
  char *text = malloc(1 << 20);
  *length = fread(text, 1, 1 << 20, file);
  fclose(file);
  return text;
}

static void shipped_examples_round_trip(void **state) {
  (void)state;
  static const char *const names[] = {"add8_tile20480_single", "add8_tile10240_double",
                                      "add1_tile2048", "add1_tile20480", "matmul_2048_fp16"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[128];
    size_t length;
    snprintf(path, sizeof path, "traces/examples/%s.csv", names[i]);
    char *text = read_all(path, &length);
    assert_round_trip(text, length);
    free(text);
  }
}

/* The first one, those of unit flags and of atomic stores. Each begins with a fence and a row or a
 * comment. */
static void examples_of_the_specification_are_valid(void **state) {
  (void)state;
  size_t length;
  char *text = read_all("traces/FORMAT.md", &length);
  text[length - 1] = '\0';
  unsigned examples = 0;
  for (char *at = text; (at = strstr(at, "\ntrace,version=1\n")); examples++) {
    char *end = strstr(at, "```"), *start = at;
    assert_non_null(end);
    while (strncmp(start, "```\n", 4) != 0)
      assert_ptr_not_equal(start--, text);
    start += 4;
    assert_round_trip(start, (size_t)(end - start));
    at = end;
  }
  assert_int_equal(examples, 3);
  free(text);
}

static void a_file_reads_like_its_text(void **state) {
  (void)state;
  char name[] = "trace_format_XXXXXX";
  int fd = mkstemp(name);
  assert_true(fd >= 0);
  /* more than one block of the reader, lines of many lengths across its borders */
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  fputs("\xef\xbb\xbf" HEAD AIV, out);
  for (unsigned i = 0; i < 6000; i++)
    fprintf(out, "%*sscalar,cycles=%u\n", (int)(i % 97), "", i + 1);
  fclose(out);
  FILE *file = fdopen(fd, "wb");
  assert_int_equal(fwrite(text, 1, size, file), size);
  fclose(file);
  vinci_trace *from_text = parse_bytes(text, size), *from_file;
  assert_int_equal(vinci_trace_load(name, fixture_shared, &from_file, NULL), VINCI_OK);
  assert_same_trace(from_text, from_file);
  assert_int_equal(from_text->digest, from_file->digest);
  assert_int_equal(from_text->digest, digest_bytes(DIGEST_SEED, text, size));
  assert_int_equal(from_file->row_count, 6000);
  assert_string_equal(from_file->path, name);
  vinci_trace_free(from_text);
  vinci_trace_free(from_file);
  free(text);
  remove(name);
}

static void digests_are_fnv1a(void **state) {
  (void)state;
  assert_true(digest_bytes(DIGEST_SEED, "", 0) == UINT64_C(0xcbf29ce484222325));
  assert_true(digest_bytes(DIGEST_SEED, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c));
  assert_true(digest_bytes(DIGEST_SEED, "foobar", 6) == UINT64_C(0x85944171f73967e8));
  assert_true(digest_bytes(digest_bytes(DIGEST_SEED, "foo", 3), "bar", 3) ==
              UINT64_C(0x85944171f73967e8));
}

/* ---- memory ---- */

static void short_memory_is_reported(void **state) {
  (void)state;
  static const char text[] = HEAD AIV "loop,i,3\nlet,t,i/2\nscalar,cycles=i+1\nendloop\n";
  size_t chunks = 0;
  enum vinci_status status;
  do {
    struct vinci_diag diag = {0};
    vinci_trace *trace;
    arena_fail_after(++chunks);
    status = vinci_trace_parse("t.csv", text, sizeof text - 1, fixture_shared, &trace, &diag);
    if (status != VINCI_OK) {
      assert_int_equal(status, VINCI_E_NOMEM);
      assert_int_equal(diag.status, VINCI_E_NOMEM);
      assert_null(trace);
    }
    vinci_trace_free(trace);
  } while (status != VINCI_OK);
  arena_fail_after(0);
  assert_true(chunks > 1);
}

static void a_full_disk_is_reported(void **state) {
  (void)state;
  struct vinci_diag diag = {0};
  vinci_trace *trace = parse(HEAD AIV "scalar\n");
  FILE *full = fopen("/dev/full", "w");
  if (!full) {
    vinci_trace_free(trace);
    skip();
  }
  assert_int_equal(vinci_trace_write(trace, full, &diag), VINCI_E_IO);
  assert_string_equal(diag.text, "cannot write the trace: No space left on device");
  fclose(full);
  vinci_trace_free(trace);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(canonical_text),
      cmocka_unit_test(rows_of_a_loop_nest),
      cmocka_unit_test(tensors_are_shared_between_kernels),
      cmocka_unit_test(mixed_kernels),
      cmocka_unit_test(equal_operands_are_kept_once),
      cmocka_unit_test(byte_order_mark_and_line_ends),
      cmocka_unit_test(round_trips),
      cmocka_unit_test(shipped_examples_round_trip),
      cmocka_unit_test(examples_of_the_specification_are_valid),
      cmocka_unit_test(a_file_reads_like_its_text),
      cmocka_unit_test(digests_are_fnv1a),
      cmocka_unit_test(short_memory_is_reported),
      cmocka_unit_test(a_full_disk_is_reported),
  };
  return cmocka_run_group_tests_name("trace_format", tests, fixture_set_up, fixture_tear_down);
}
